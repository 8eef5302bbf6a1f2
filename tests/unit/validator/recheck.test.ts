import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChecks, readContinuous, UsageError } from '../../../validator/input.ts';
import type { RedirectCheck } from '../../../validator/shared/contract.ts';
import { kernel, native, settled } from './kernel.ts';

const { plan, laterForm } = await import('../../../validator/plan.ts');
const { outcomeOf, readMemory, waitFor } = await import('../../../validator/recheck.ts');
const { readPod } = await import('../../../validator/pod.ts');
const { attemptAt } = await import('../../../validator/prove.ts');
const { failed, passed } = await import('../../../validator/finding.ts');

/* Rechecks of a running pod. */

test('the time to the next recheck: from start to start, random after a pass', () => {
  const rows: [failures: number, elapsed: number, share: number, wait: number][] = [
    [0, 0, 0, 48_000],
    [0, 0, 0.5, 60_000],
    [0, 0, 1, 72_000],
    [0, 5, 0.5, 59_995],
    [1, 0, 0, 60_000],
    [2, 12_000, 1, 48_000],
    [5, 12_000.4, 1, 48_000],
    // a program that was suspended for ten minutes still pauses
    [1, 600_000, 0, 12_000],
    [0, 600_000, 1, 12_000],
  ];
  for (const [failures, elapsed, share, wait] of rows)
    assert.equal(waitFor(60_000, failures, elapsed, share), wait, `${failures} ${elapsed} ${share}`);
});

test('a loss outweighs a pass, and a pass is partial beside an inconclusive finding', () => {
  const way = { check: 'gateway', finding: passed('it') } as const;
  const finding = (
    check: 'redirect' | 'captured' | 'gateway' | 'policy',
    reason: Parameters<typeof failed>[0],
  ) => ({ check, finding: failed(reason, '') }) as const;
  const losses = [
    finding('redirect', 'not-redirected'),
    finding('captured', 'no-listener'),
    finding('captured', 'no-route'),
    finding('captured', 'address-unknown'),
    finding('gateway', 'gateway-silent'),
    finding('policy', 'policy-not-in-force'),
  ];
  const nothing = [
    finding('redirect', 'no-listener'),
    finding('gateway', 'starved'),
    finding('gateway', 'send-refused'),
    // another program or DNS may cause these findings
    finding('policy', 'policy-too-strict'),
    finding('policy', 'connect-refused'),
    finding('policy', 'name-unknown'),
    finding('captured', 'not-readable'),
    finding('captured', 'no-target'),
    finding('captured', 'unexpected'),
  ];
  assert.equal(outcomeOf([way, way]), 'passed');
  assert.equal(outcomeOf([]), 'passed');
  for (const it of nothing) {
    assert.equal(outcomeOf([it]), 'nothing', JSON.stringify(it));
    assert.equal(outcomeOf([way, it]), 'partly', JSON.stringify(it));
  }
  for (const it of losses) assert.equal(outcomeOf([way, ...nothing, it]), 'failed', JSON.stringify(it));
});

const redirect: RedirectCheck = {
  direction: 'outbound',
  listen: 4140,
  connect: ['192.0.2.2:1404'],
  timeout: '10s',
} as const;
const timeout = '10s';
const asked = readChecks(
  JSON.stringify([
    { profile: 'a', redirect },
    { profile: 'a', redirect: { ...redirect, direction: 'inbound', listen: 4143 } },
    { profile: 'a', captured: { listeners: [15_001], outbound: 15_001, connect: redirect.connect, timeout } },
    { profile: 'a', interfaces: { timeout } },
    { profile: 'a', address: { timeout } },
    { profile: 'a', gateway: { timeout } },
    { profile: 'a', roundTrip: { mode: 'require', timeout } },
    { profile: 'a', witness: { port: 14_040, timeout } },
    { profile: 'a', reach: { host: 'db', port: 5432, timeout } },
    { profile: 'a', policy: { blocked: ['db:5432'], timeout } },
  ]),
);

test('the later forms: without the witness, roundTrip and reach, and with policy only if it is requested', () => {
  const steps = plan(asked, { families: ['IPv4'] });
  const names = (hasPolicy: boolean): string[] => laterForm(steps, hasPolicy).map(({ name }) => name);
  const usual = ['redirect', 'redirect', 'captured', 'interfaces', 'address', 'gateway'];
  assert.deepEqual(names(false), usual);
  assert.deepEqual(names(true), [...usual, 'policy']);
  assert.ok(laterForm(steps, true).every(({ isLater }) => isLater));
  assert.ok(steps.every(({ isLater }) => !isLater));
});

/** Findings of a mesh's rechecks. `listeners`: how many connections wait at each; `end`: the port that answers. */
const laterRows: [listeners: number[], end: string | undefined, ofProxy: string, ofZtunnel: string][] = [
  [[0], '102C', 'passed', 'passed'],
  // a proxy that is slow to accept
  [[7], '102C', 'passed', 'passed'],
  [[0], '102D', 'answered-by-someone-else', 'not-captured'],
  [[0], 'elsewhere', 'answered-by-someone-else', 'not-captured'],
  [[0], undefined, 'not-redirected', 'not-captured'],
  [[7], undefined, 'starved', 'starved'],
  // two listeners, of which one accepts
  [[0, 7], undefined, 'starved', 'starved'],
  [[], undefined, 'no-listener', 'no-listener'],
  [[0], 'no route', 'no-route', 'no-route'],
  [[0], '102C, but only a route to the API server', 'passed', 'passed'],
  [[0], '102C, but silence except of the API server', 'not-redirected', 'not-captured'],
];
const listener = (waiting: number): string =>
  `   0: 00000000:102C 00000000:0000 0A 00000000:0000000${waiting} 00:00000000 00000000     0        0 1 2 0 100 0 0 10 0\n`;
const endAt = (port: string): string =>
  `   1: 0100007F:${port} 070AF40A:9C40 01 00000000:00000000 00:00000000 00000000     0        0 2 2 0 20 4 30 10 -1\n`;
const apiServer = '10.96.0.1';
const pod = readPod({ CNI_GATE_POD_IPS: '10.244.10.7', KUBERNETES_SERVICE_HOST: apiServer }, 1, () => []);

test('the connection must reach the proxy or ztunnel; one that does not accept or listen has its own reason', async () => {
  const bound: string[] = [];
  let isAnswered = false;
  for (const [listeners, end, ...expected] of laterRows) {
    const rows = [...listeners.map(listener), ...(end?.startsWith('10') ? [endAt(end.slice(0, 4))] : [])];
    Object.assign(native, {
      readFile: (path: string) => (path === '/proc/net/tcp' ? rows.join('') : ''),
      socket: () => 5,
      connect: (_: number, host: string, port: number) => {
        assert.equal(port, 1404);
        isAnswered = end !== undefined && (host === apiServer || !end.includes('silence'));
        if (end?.includes('route') && !(end.includes('API') && host === apiServer))
          throw new Error('ENETUNREACH');
      },
      bind: (_: number, address: string) => bound.push(address),
      socketError: () => {},
      localEnd: () => ({ address: '10.244.10.7', port: 0x9c40 }),
    });
    kernel.happened = (_, wanted) => (isAnswered ? wanted : 0);
    const captured = { listeners: [4140], outbound: 4140, connect: redirect.connect, timeout };
    const inbound = { redirect: { ...redirect, direction: 'inbound' as const } };
    const found: string[] = [];
    for (const [check, isLater] of [
      [{ redirect }, true],
      [{ captured }, true],
      [inbound, true],
      [{ captured }, false],
    ] as const) {
      const step = { profile: 'a', name: 'captured', check, family: 'IPv4', timeout: 200 } as const;
      const attempt = attemptAt({ ...step, ...(isLater && { isLater }) }, pod);
      const finding = await settled(attempt(kernel.now + 200));
      found.push(finding.passed ? 'passed' : finding.reason);
    }
    // only a recheck reports a ztunnel that does not accept connections; the first proof reports `not-captured`
    assert.equal(found[3], expected[1] === 'starved' ? 'not-captured' : expected[1]);
    assert.deepEqual(found.slice(0, 2), expected, `${listeners} ${end}`);
  }
  // Istio's inbound rule applies only to connections from this address
  assert.deepEqual(bound, Array(laterRows.length).fill('127.0.0.1'));
});

test('the arguments of a paused program contain its memory', () => {
  assert.deepEqual(readMemory(['recheck', '0', '5', '6']), { failures: 0, readiness: 5, startup: 6 });
  assert.deepEqual(readMemory(['recheck', '2', '5', '-1']), { failures: 2, readiness: 5, startup: -1 });
  for (const args of [
    ['recheck'],
    ['recheck', '2', '5'],
    ['recheck', '2', '5', '-1', '0'],
    ['recheck', '-1', '5', '-1'],
    ['recheck', 'x', '5', '-1'],
    ['validate', '2', '5', '-1'],
  ])
    assert.equal(readMemory(args), undefined, args.join(' '));
});

test('the settings of rechecks are read, and nothing else', () => {
  const settings = { interval: '60s', failures: 3 };
  const read = (value: object | string): unknown =>
    readContinuous(typeof value === 'string' ? value : JSON.stringify(value), asked);
  for (const none of [undefined, '']) assert.equal(readContinuous(none, asked), undefined);
  assert.deepEqual(read(settings), { interval: 60_000, failures: 3 });
  assert.deepEqual(read({ ...settings, port: 14_041, policy: true }), {
    interval: 60_000,
    failures: 3,
    port: 14_041,
    policy: true,
  });
  const wrong: [value: object | string, says: RegExp][] = [
    ['{', /CNI_GATE_CONTINUOUS is not JSON/],
    ['[]', /is not an object/],
    [{ failures: 3 }, /interval is not understood: missing/],
    [{ interval: '60s' }, /failures is not understood: missing/],
    [{ ...settings, interval: '60' }, /interval is no duration: "60"/],
    [{ ...settings, policy: false }, /policy is not understood: false/],
    [{ ...settings, onFailure: 'log' }, /unknown setting onFailure/],
    [{ ...settings, timeout: '1s' }, /unknown setting timeout/],
  ];
  for (const [value, says] of wrong)
    assert.throws(
      () => read(value),
      (error) => error instanceof UsageError && says.test(error.message),
      JSON.stringify(value),
    );
  assert.throws(() => readContinuous(JSON.stringify(settings), asked.slice(0, 1)), /needs the check witness/);
});
