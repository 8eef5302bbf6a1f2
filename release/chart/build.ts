import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { templates, valuesSchema } from './chart.ts';

/*
 * usage: npx node release/chart/build.ts
 *
 * Writes the generated part of charts/cni-gate. Needs kubectl.
 */
const chart = fileURLToPath(new URL('../../charts/cni-gate/', import.meta.url));
const folder = join(chart, 'templates/generated');
const files = await templates();
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const [name, text] of files) writeFileSync(join(folder, name), text);
writeFileSync(join(chart, 'values.schema.json'), valuesSchema());
