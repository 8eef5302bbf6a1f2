import { Sandbox } from './sandbox.ts';

/** Creates a sandbox, prints its namespaces and waits, for the test that kills it. */
const { pod, node } = await Sandbox.make();
process.stdout.write(JSON.stringify([pod, node]));
setInterval(() => {}, 1000);
