import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installFiles } from './install.ts';

/*
 * usage: node release/build.ts [FOLDER]
 *
 * Writes install.yaml and install-permissive.yaml into the folder, dist-release by default. Needs kubectl.
 */
const root = new URL('../', import.meta.url);
const [folder = 'dist-release'] = process.argv.slice(2);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
mkdirSync(folder, { recursive: true });
for (const [name, text] of await installFiles(version)) writeFileSync(join(folder, name), text);
