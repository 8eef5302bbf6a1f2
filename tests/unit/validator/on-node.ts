import { nodePlatform } from '../../../validator/node/platform.ts';
import { usePlatform } from '../../../validator/platform.ts';

/** Import it for tests that call what uses the platform. */
usePlatform(nodePlatform);
