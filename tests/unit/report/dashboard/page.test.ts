import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { moduleNames, readPage, withoutImports } from '../../../../webhook/report/dashboard/page.ts';
import { clusterFacts, dashboardFrom } from '../../../support/dashboard-cluster.ts';

const folder = new URL('../../../../webhook/report/dashboard/page/', import.meta.url);
const modules = moduleNames.map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));
const dashboard = dashboardFrom(clusterFacts(5));

test('every module of the page is in the script, after those that it imports', () => {
  const existing = readdirSync(folder).filter((name) => name.endsWith('.js'));
  assert.deepEqual([...moduleNames].toSorted(), existing.toSorted());
  for (const [index, { name, text }] of modules.entries()) {
    const imported = [...text.matchAll(/from '\.\/([^']+)'/g)].map((match) => match[1] ?? '');
    const before: readonly string[] = moduleNames.slice(0, index);
    assert.deepEqual(
      imported.filter((one) => !before.includes(one)),
      [],
      name,
    );
  }
});

test('modules declare unique names, as they become one script', () => {
  const declared = modules.flatMap(({ text }) =>
    [...text.matchAll(/^(?:export )?(?:async )?(?:const|let|function|class) (\w+)/gm)].map(
      (match) => match[1],
    ),
  );
  assert.deepEqual(
    declared.filter((name, index) => declared.indexOf(name) !== index),
    [],
  );
});

test('the page makes no markup or code of texts, loads nothing, and allows its own script and style alone', () => {
  const hazards =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTML|DOMParser|srcdoc/;
  for (const { name, text } of modules) assert.doesNotMatch(text, hazards, name);
  const { html, policy } = readPage();
  assert.doesNotMatch(html, /^\s*(?:import|export) /m);
  assert.doesNotMatch(html, /src="|href="(?!data:)|https?:\/\/|\son\w+=|style=/);
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+';/);
  assert.ok(html.includes(policy));
});

test('data cannot end its script element, and is read back as it was', () => {
  const headline = "</script><script>alert(1)</script><!-- <script> $& $' \u2028";
  const { html } = readPage({ ...dashboard, headline });
  const [, data = ''] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html) ?? [];
  assert.equal(JSON.parse(data).headline, headline);
  assert.equal(html.match(/<script/g)?.length, 2);
});

test('a module that cannot be joined is an error, and no broken page', () => {
  for (const text of ["import * as all from './dom.js';", 'export default 1;', "const a = '</script>';"])
    assert.throws(() => withoutImports('a.js', text), /a\.js of the page has/);
});
