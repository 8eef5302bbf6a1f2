import { answerCall } from './mesh-plugin.ts';

/** The plugin of a mesh that acts on every pod. */
await answerCall(async () => true);
