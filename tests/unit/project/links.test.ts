import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { type ErrorCode, errorCodes, errorPage } from '../../../webhook/lib/errors.ts';
import { docsUrl } from '../../../webhook/lib/names.ts';
import { pages } from '../../support/pages.ts';

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

const headingsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));

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
    if (anchor !== undefined) assert.ok(headingsOf(text(`docs/${path}`)).includes(anchor), link);
  }
});

test('every link between pages leads to a file, and to a heading of it', () => {
  const broken = pages('*.md', '{certs,docs,examples,manifests,tests,validator,webhook}/**/*.md').flatMap(
    ({ path, text: page }) =>
      [...page.matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([link, to = '', anchor]) => {
        const target = to === '' ? path : join(dirname(path), to);
        if (!existsSync(`${root}${target}`)) return [`${path}: ${link}`];
        if (anchor === undefined) return [];
        return headingsOf(text(target)).includes(anchor) ? [] : [`${path}: ${link}`];
      }),
  );
  assert.deepEqual(broken, []);
});

test('every source file that the documentation names exists', () => {
  const name = /\b(?:certs|manifests|tests|validator|webhook)\/[\w./-]+\.(?:json|sh|ts|yaml)\b/g;
  const missing = pages('*.md', '{docs,manifests,tests,validator}/**/*.md')
    .filter(({ path }) => path !== 'CHANGELOG.md')
    .flatMap(({ path, text: page }) =>
      [...page.matchAll(name)]
        .filter(([file]) => !existsSync(`${root}${file}`))
        .map(([file]) => `${path}: ${file}`),
    );
  assert.deepEqual(missing, []);
});
