import { buildHelm } from './helm.ts';

/** Before the tests run: they have no network. */
await buildHelm();
