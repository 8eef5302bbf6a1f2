import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { instance } from '@viz-js/viz';

/*
 * Renders docs/diagrams/*.dot as SVG files beside them, by Graphviz. With --check it writes nothing, and fails if a file
 * is not what its text gives.
 */
const folder = fileURLToPath(new URL('../../docs/diagrams/', import.meta.url));
const viz = await instance();
const outdated = [];
for (const name of globSync('*.dot', { cwd: folder }).sort()) {
  const target = `${folder}${name.replace(/\.dot$/, '.svg')}`;
  const svg = viz.renderString(readFileSync(folder + name, 'utf8'), { format: 'svg' });
  if (!process.argv.includes('--check')) writeFileSync(target, svg);
  else if (readFileSync(target, { encoding: 'utf8', flag: 'a+' }) !== svg) outdated.push(target);
}
if (outdated.length > 0) {
  console.error(`not what their text gives; run its script diagrams:\n${outdated.join('\n')}`);
  process.exitCode = 1;
}
