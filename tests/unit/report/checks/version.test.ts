import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../../../webhook/report/checks/finding.ts';
import { checkVersion } from '../../../../webhook/report/checks/version.ts';
import { found } from '../objects.ts';

const cases: [minor: number, Finding['result'], what: RegExp][] = [
  [29, 'failed', /^the API server is v1\.29\.0, and cni-gate needs 1\.30/],
  [30, 'warning', /^v1\.30\.0: refused pods are not steered, .* 1\.35$/],
  [34, 'warning', /^v1\.34\.0: /],
  [35, 'passed', /^v1\.35\.0$/],
];
for (const [minor, result, what] of cases)
  test(`kubernetes-version of 1.${minor}: ${result}`, () => {
    const version = { major: 1, minor, text: `v1.${minor}.0`, usesNominations: minor >= 35 };
    const finding = checkVersion({ version: found(version) });
    assert.equal(finding.result, result);
    assert.match(finding.what, what);
  });
