import { answerCall } from './mesh-plugin.ts';

await answerCall(async () => true);
