import { nodePlatform } from './node/platform.ts';
import { usePlatform } from './platform.ts';
import { run } from './run.ts';

usePlatform(nodePlatform);
run();
