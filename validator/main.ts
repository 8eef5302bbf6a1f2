import { turn } from './host/loop.ts';
import { run } from './run.ts';

run();
// the host calls it until the checks end the process
Object.assign(globalThis, { turn });
