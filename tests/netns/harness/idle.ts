import { Sandbox } from './sandbox.ts';

/** Creates a sandbox, prints its namespaces, and waits until the test kills this process. */
const { pod, node } = await Sandbox.make();
process.stdout.write(JSON.stringify([pod, node]));
setInterval(() => {}, 1000);
