import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readPage } from '../../../../webhook/report/dashboard/page.ts';

const script = readFileSync(
  new URL('../../../../webhook/report/dashboard/page/page.js', import.meta.url),
  'utf8',
);

test('the page makes no markup or code of texts, loads nothing, and allows its own script and style alone', () => {
  const hazards =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTML|DOMParser|srcdoc/;
  assert.doesNotMatch(script, hazards);
  const { html, policy } = readPage();
  assert.doesNotMatch(html, /^\s*(?:import|export) /m);
  assert.doesNotMatch(html, /src="|href="(?!data:)|https?:\/\/|\son\w+=|style=/);
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+';/);
});
