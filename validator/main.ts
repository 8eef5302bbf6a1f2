import { turn } from './host/loop.ts';
import { run } from './run.ts';

run();
// the host program calls `turn` until the checks end the process
Object.assign(globalThis, { turn });
