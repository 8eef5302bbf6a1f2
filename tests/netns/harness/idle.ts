import { Sandbox } from './sandbox.ts';

/** Makes a sandbox, names its namespaces and waits: for the test that ends it. */
const { pod, node } = await Sandbox.make();
process.stdout.write(JSON.stringify([pod, node]));
setInterval(() => {}, 1000);
