import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { type ErrorCode, errorCodes, errorPage } from '../../../webhook/errors.ts';
import { docsUrl } from '../../../webhook/names.ts';

/* Whoever reads a message has no checkout: a page is named by its address, and is there. */

const root = fileURLToPath(new URL('../../../', import.meta.url));
const text = (path: string): string => readFileSync(`${root}${path}`, 'utf8');

/** Every text in a file's objects. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const manifests = globSync('manifests/**/*.yaml', { cwd: root }).flatMap((path) =>
  textsIn(parseAllDocuments(text(path), { merge: true }).map((document) => document.toJS())),
);

/** GitHub's anchor for a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

test('messages of manifests name pages by their address', () => {
  assert.deepEqual(
    manifests.filter((message) => message.replaceAll(docsUrl, '').includes('docs/')),
    [],
  );
});

test('every page that a message names is there, with its section', () => {
  const links = [
    ...manifests.flatMap((message) => message.match(/https:\/\/github\.com\/cni-gate\/\S+/g) ?? []),
    ...Object.keys(errorCodes).map((code) => errorPage(code as ErrorCode)),
  ];
  assert.ok(links.length > Object.keys(errorCodes).length);
  for (const link of links) {
    assert.ok(link.startsWith(docsUrl), link);
    const [path = '', anchor] = link.slice(docsUrl.length).split('#');
    assert.ok(existsSync(`${root}docs/${path}`), link);
    const headings = [...text(`docs/${path}`).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      anchorOf(heading),
    );
    if (anchor !== undefined) assert.ok(headings.includes(anchor), link);
  }
});
