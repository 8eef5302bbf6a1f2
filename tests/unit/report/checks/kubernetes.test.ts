import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPre } from '../../../../webhook/report/checks/before-install.ts';
import type { CheckId } from '../../../../webhook/report/checks/catalogue.ts';
import type { Finding } from '../../../../webhook/report/checks/finding.ts';
import type { PreFacts } from '../../../../webhook/report/facts/collect.ts';
import { now } from '../../nodes/readiness/objects.ts';
import { forbidden, found, preFacts, wholeInstallation } from '../objects.ts';

const version = (minor: number): Partial<PreFacts> => ({
  version: found({
    major: 1,
    minor,
    text: `v1.${minor}.0`,
    usesNominations: minor >= 35,
  }),
});
const plugins = (...servers: string[][]): Partial<PreFacts> => ({ apiServers: found(servers) });
const metrics = { name: 'v1beta1.metrics.k8s.io', service: 'kube-system/metrics-server', message: 'timeout' };
const served = (...available: boolean[]): Partial<PreFacts> => ({
  servedApis: found(available.map((is) => ({ ...metrics, available: is }))),
});
/** Leases that were renewed so many seconds ago. */
const clocks = (...ages: number[]): Partial<PreFacts> => ({
  heartbeats: found(ages.map((age, at) => ({ node: `n${at}`, renewed: now - age * 1000 }))),
});
const leader = (ahead: number): Partial<PreFacts> => ({
  heartbeats: forbidden('the Leases of nodes', 'leases'),
  installation: {
    ...wholeInstallation,
    lease: found({ holder: 'x_1', renewed: now + ahead * 1000, duration: 15_000 }),
  },
});

const cases: [CheckId, Partial<PreFacts>, Finding['result'], what?: RegExp][] = [
  ['kubernetes-version', version(29), 'failed', /^the API server is v1\.29\.0, and cni-gate needs 1\.30/],
  ['kubernetes-version', version(30), 'warning', /^v1\.30\.0: refused pods are not steered, .* 1\.35$/],
  ['kubernetes-version', version(34), 'warning'],
  ['kubernetes-version', version(35), 'passed', /^v1\.35\.0$/],
  ['admission-plugins', {}, 'passed'],
  [
    'admission-plugins',
    plugins(['kube-apiserver'], ['--disable-admission-plugins=NodeRestriction,ValidatingAdmissionPolicy']),
    'failed',
    /has ValidatingAdmissionPolicy turned off$/,
  ],
  ['admission-plugins', plugins(), 'skipped'],
  ['admission-plugins', { apiServers: forbidden('pods', 'pods') }, 'not-known'],
  ['api-server-reach', served(false), 'warning', /metrics-server does not answer: timeout$/],
  ['api-server-reach', served(false, true), 'passed'],
  ['api-server-reach', served(), 'skipped'],
  ['cluster-clocks', clocks(5, -30), 'passed'],
  ['cluster-clocks', clocks(5, -90), 'failed', /^the clock of node n1 is 90 s ahead of the API server's$/],
  ['cluster-clocks', clocks(), 'skipped'],
  ['cluster-clocks', leader(61), 'failed', /^the clock of the leader x_1 is 61 s ahead/],
  ['cluster-clocks', leader(0), 'not-known'],
];
for (const [id, facts, result, what = /./] of cases)
  test(`${id}: ${result} ${what}`, () => {
    const finding = checkPre(preFacts(facts), now).findings[id];
    assert.equal(finding?.result, result);
    assert.match(finding?.what ?? '', what);
  });
