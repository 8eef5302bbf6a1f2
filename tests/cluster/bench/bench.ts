/**
 * `npm run bench cluster`: what the gate costs, on a real control plane. Figures vary from run to run and with what
 * else the machine does: compare the ratios. `-- bystanders` or `-- nodes` runs one part.
 */
import { cpus, loadavg } from 'node:os';
import { benchBystanders } from './bystanders.ts';
import { benchManyNodes } from './many-nodes.ts';

const parts = { bystanders: benchBystanders, nodes: benchManyNodes };
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) throw new Error(`no part ${unknown}; there are ${Object.keys(parts).join(', ')}`);

for (const [name, part] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const load = loadavg()[0]?.toFixed(1);
  console.log(`\n${name}: Node ${process.version}, ${cpus().length} cores, load ${load} before`);
  await part();
}
