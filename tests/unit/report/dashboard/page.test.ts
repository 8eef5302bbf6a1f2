import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readPage } from '../../../../webhook/report/dashboard/page.ts';
import { clusterFacts, dashboardFrom } from '../../../support/dashboard-cluster.ts';

const script = readFileSync(
  new URL('../../../../webhook/report/dashboard/page/page.js', import.meta.url),
  'utf8',
);
const dashboard = dashboardFrom(clusterFacts(5));

test('the page makes no markup or code of texts, loads nothing, and allows its own script and style alone', () => {
  const hazards =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTML|DOMParser|srcdoc/;
  assert.doesNotMatch(script, hazards);
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
