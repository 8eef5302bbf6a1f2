import { readFileSync } from 'node:fs';
import { changelogSection } from './changelog.ts';

/*
 * usage: node release/notes.ts TAG
 *
 * Writes the changelog's section for a tag, such as v0.2.0, to the standard output. It fails if the tag is not that of
 * the version in package.json.
 */
const root = new URL('../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const { version } = JSON.parse(read('package.json'));
const [tag] = process.argv.slice(2);
if (tag !== `v${version}`)
  throw new Error(`The tag is ${tag}, and package.json has ${version}: expected v${version}.`);
process.stdout.write(changelogSection(read('CHANGELOG.md'), version));
