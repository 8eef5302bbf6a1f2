import { readFileSync } from 'node:fs';

/*
 * usage: node release/notes.ts TAG
 *
 * Writes the changelog's section for a tag, such as v0.2.0, to the standard output. It fails if the tag is not that of
 * the version in package.json, or if the changelog has no such section.
 */
const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const { version } = JSON.parse(read('package.json'));
const [tag] = process.argv.slice(2);
if (tag !== `v${version}`)
  throw new Error(`The tag is ${tag}, and package.json has ${version}: expected v${version}.`);
const sections = read('CHANGELOG.md').split(/^## /m);
const section = sections.find((one) => one.split(/\s/, 1)[0] === version);
if (section === undefined)
  throw new Error(
    `CHANGELOG.md has no section "## ${version}": rename the section Unreleased before you tag.`,
  );
process.stdout.write(`${section.slice(section.indexOf('\n')).trim()}\n`);
