import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installFiles } from './install.ts';
import { writePlugin } from './krew.ts';

/*
 * usage: node release/build.ts [FOLDER]
 *
 * Writes install.yaml, install-permissive.yaml, and the archive and manifest of the plugin `kubectl cni-gate` into the
 * folder, dist-release by default. Needs kubectl and GNU tar.
 */
const root = new URL('../', import.meta.url);
const [folder = 'dist-release'] = process.argv.slice(2);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
mkdirSync(folder, { recursive: true });
for (const [name, text] of await installFiles(version)) writeFileSync(join(folder, name), text);
await writePlugin(folder, version);
