import { answerCall } from './mesh-plugin.ts';

/** The plugin of a mesh that takes every pod. */
await answerCall(async () => true);
