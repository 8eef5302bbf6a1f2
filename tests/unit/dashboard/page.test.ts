import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { moduleNames, readPage } from '../../../webhook/dashboard/page-files.ts';
import { inScript, staticPage } from '../../../webhook/dashboard/static-page.ts';
import { clusterFacts, dashboardFrom } from '../../support/dashboard-cluster.ts';

const page = readPage();
const dashboard = dashboardFrom(clusterFacts(5));

test('every module of the page is served, and imports only those before it', () => {
  const folder = new URL('../../../webhook/dashboard/page/', import.meta.url);
  const there = readdirSync(folder).filter((name) => name.endsWith('.js'));
  assert.deepEqual([...moduleNames].toSorted(), there.toSorted());
  for (const [index, { name, text }] of page.modules.entries()) {
    const imported = [...text.matchAll(/from '\.\/([^']+)'/g)].map((match) => match[1] ?? '');
    const before: readonly string[] = moduleNames.slice(0, index);
    assert.deepEqual(
      imported.filter((one) => !before.includes(one)),
      [],
      name,
    );
  }
});

test('modules export unique names, so that a file can hold them as one script', () => {
  const declared = page.modules.flatMap(({ text }) =>
    [...text.matchAll(/^(?:export )?(?:async )?(?:const|let|function|class) (\w+)/gm)].map(
      (match) => match[1],
    ),
  );
  assert.deepEqual(
    declared.filter((name, index) => declared.indexOf(name) !== index),
    [],
  );
});

test('the page makes no markup or code of texts, and loads nothing from elsewhere', () => {
  const hazards =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTML|DOMParser|srcdoc/;
  for (const { name, text } of page.modules) assert.doesNotMatch(text, hazards, name);
  const all = [page.html, page.css, ...page.modules.map(({ text }) => text)].join('\n');
  const addresses = [...all.matchAll(/(?:https?:)?\/\/[a-z][\w.-]*\.[a-z]+/g)].map(([address]) => address);
  // the name of a namespace, which nothing loads
  assert.deepEqual(new Set(addresses), new Set(['http://www.w3.org']));
  assert.doesNotMatch(page.html, /\son\w+=|style=|<script(?! type="module" src="main\.js")/);
});

test('the file has no import left, and its policy allows its own script and style alone', () => {
  const text = staticPage(page, dashboard);
  assert.doesNotMatch(text, /^\s*(?:import|export) /m);
  assert.doesNotMatch(text, /src="|href="(?!data:|#)/);
  const policy = /Content-Security-Policy" content="([^"]+)"/.exec(text)?.[1] ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+';/);
});

test('data cannot end its script element, and is read back as it was', () => {
  const headline = "</script><script>alert(1)</script><!-- <script> $& $' \u2028";
  const text = staticPage(page, { ...dashboard, headline });
  const [, data = ''] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(text) ?? [];
  assert.equal(JSON.parse(data).headline, headline);
  assert.equal(text.match(/<script/g)?.length, 2);
  assert.doesNotMatch(inScript(headline), /</);
});

test('a module that cannot be joined is an error, and no broken file', () => {
  for (const text of [
    "import * as all from './dom.js';",
    'export default 1;',
    'export { a };',
    "const a = '</script>';",
  ])
    assert.throws(
      () => staticPage({ ...page, modules: [{ name: 'a.js', text }] }, dashboard),
      /a\.js of the page has/,
    );
});
