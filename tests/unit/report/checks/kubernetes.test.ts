import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../../../webhook/report/checks/finding.ts';
import {
  checkApis,
  checkClocks,
  checkNodes,
  checkOwnClock,
  checkPlugins,
  checkPriorityClass,
  checkReach,
  checkVersion,
} from '../../../../webhook/report/checks/kubernetes.ts';
import { now } from '../../nodes/readiness/objects.ts';
import { preFacts as bare, forbidden, found, checkFacts as installed } from '../objects.ts';

const short = ({ result, what }: Finding): [string, string] => [result, what];
const version = (major: number, minor: number, usesNominations: boolean): Finding =>
  checkVersion({
    version: found({ major, minor, text: `v${major}.${minor}.0`, usesNominations, nominationsFrom: '1.35' }),
  });

test('the version: 1.29 fails, 1.30 is a warning, and 1.35 passes', () => {
  assert.deepEqual(short(version(1, 29, false)), [
    'failed',
    'the API server is v1.29.0, and cni-gate needs 1.30 or later',
  ]);
  assert.deepEqual(short(version(1, 30, false)), [
    'warning',
    'v1.30.0: refused pods are not steered, which needs 1.35',
  ]);
  assert.equal(version(1, 34, false).result, 'warning');
  assert.deepEqual(short(version(1, 35, true)), ['passed', 'v1.35.0']);
  assert.equal(version(2, 0, true).result, 'passed');
});

test('the APIs: a group that is absent, and a resource that is turned off', () => {
  const { apis } = installed();
  assert.equal(checkApis({ apis }).result, 'passed');
  const without = new Map([...apis, ['discovery.k8s.io/v1', 'absent' as const]]);
  const finding = checkApis({ apis: without });
  assert.deepEqual(short(finding), [
    'failed',
    'the API server does not serve endpointslices of discovery.k8s.io/v1',
  ]);
  assert.equal(finding.code, 'CNI_GATE_KUBERNETES');
  const none = checkApis({ apis: new Map() });
  assert.match(none.what, /^the API server does not serve (?:\S+ of \S+, ){4}\S+ of \S+ and 10 more$/);
});

test('admission plugins: one that is turned off, others, and flags that are not visible', () => {
  const plugins = (...servers: string[][]): Finding => checkPlugins({ apiServers: found(servers) });
  assert.equal(checkPlugins(bare()).result, 'passed');
  const off = plugins(
    ['kube-apiserver'],
    ['--disable-admission-plugins=NodeRestriction,ValidatingAdmissionPolicy'],
  );
  assert.deepEqual(short(off), ['failed', 'the API server has ValidatingAdmissionPolicy turned off']);
  assert.equal(plugins().result, 'skipped');
  assert.equal(checkPlugins({ apiServers: forbidden('pods', 'pods') }).result, 'not-known');
});

test('whether the API server reaches a Service: one that answers, one that does not, and none', () => {
  assert.equal(checkReach(bare()).result, 'passed');
  const metrics = { name: 'v1beta1.metrics.k8s.io', service: 'kube-system/metrics-server' };
  const silent = { ...metrics, available: false, message: 'failing or missing response: timeout' };
  assert.deepEqual(short(checkReach({ servedApis: found([silent]) })), [
    'warning',
    'API v1beta1.metrics.k8s.io of Service kube-system/metrics-server does not answer: failing or missing response: timeout',
  ]);
  assert.equal(
    checkReach({ servedApis: found([silent, { ...metrics, available: true, message: '' }]) }).result,
    'passed',
  );
  assert.equal(checkReach({ servedApis: found([]) }).result, 'skipped');
});

test('clocks: of nodes, of the leader, and of this machine; a minute is allowed', () => {
  const clocks = (...ages: number[]): Finding =>
    checkClocks(
      { heartbeats: found(ages.map((age, at) => ({ node: `n${at}`, renewed: now - age }))) },
      undefined,
      now,
    );
  assert.equal(clocks(5000, -30_000).result, 'passed');
  assert.deepEqual(short(clocks(5000, -90_000)), [
    'failed',
    "the clock of node n1 is 90 s ahead of the API server's",
  ]);
  assert.equal(clocks().result, 'skipped');
  const heartbeats = forbidden('the Leases of nodes', 'leases');
  const lease = { holder: 'x_1', renewed: now + 61_000, duration: 15_000 };
  assert.match(checkClocks({ heartbeats }, lease, now).what, /^the clock of the leader x_1 is 61 s ahead/);
  assert.equal(checkClocks({ heartbeats }, { ...lease, renewed: now }, now).result, 'not-known');
  assert.equal(checkOwnClock({ clockSkew: 60_000 }).result, 'passed');
  assert.deepEqual(short(checkOwnClock({ clockSkew: -61_000 })), [
    'warning',
    "this machine's clock is 61 s ahead of the API server's",
  ]);
});

test('nodes: none, one of another architecture, and Windows nodes, which count for nothing', () => {
  const node = (name: string, os: string, architecture: string) => ({ name, os, architecture });
  const check = (...nodes: ReturnType<typeof node>[]): [string, string] =>
    short(checkNodes({ nodes: found(nodes) }));
  assert.deepEqual(check(node('w1', 'windows', 'amd64')), [
    'warning',
    'there is no Linux node, so no replica can start',
  ]);
  assert.deepEqual(check(node('n1', 'linux', 'amd64'), node('n2', 'linux', 's390x')), [
    'warning',
    'the image is for amd64 and arm64 only, and not for n2 (s390x)',
  ]);
  assert.equal(check(node('n1', 'linux', 'arm64'))[0], 'passed');
});

test('the PriorityClass', () => {
  assert.equal(checkPriorityClass(found(true as const)).result, 'passed');
  assert.equal(checkPriorityClass('absent').code, 'CNI_GATE_KUBERNETES');
});
