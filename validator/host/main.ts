import { usePlatform } from '../platform.ts';
import { run } from '../run.ts';
import { turn } from './loop.ts';
import { hostPlatform } from './platform.ts';

usePlatform(hostPlatform);
run();
// the host calls it until the checks end the process
Object.assign(globalThis, { turn });
