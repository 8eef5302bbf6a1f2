import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { type Rechecks, readChecks } from '../../../validator/input.ts';
import type { Memory } from '../../../validator/recheck.ts';
import { kernel, native, settled } from './kernel.ts';

const { plan } = await import('../../../validator/plan.ts');
const { witnessIn } = await import('../../../validator/prove.ts');
const { recheck, rest, restAfterPass } = await import('../../../validator/recheck.ts');
const { readPod } = await import('../../../validator/pod.ts');

/* A whole recheck, and the program at rest, on a simulated host. */

/** The pod's network: it works, the address is missing, or it cannot be read. */
type Network = 'works' | 'broken' | 'unreadable';
let network: Network = 'works';
/** What the program logs, and what it does with sockets. */
let acts: string[] = [];
/** How long the program rests, and its memory. */
let rested: [wait: number, memory: Memory] | undefined;
/** The code of the error on listening. */
let listenError = '';
/** The next bytes of the random generator. */
let bytes = [128, 0];

Object.assign(native, {
  interfaces: () => {
    if (network === 'unreadable') throw new Error('EMFILE');
    return [
      { name: 'eth0', flags: 0x41, ...(network === 'works' && { address: '10.244.10.7' }) },
      { name: 'net1', flags: 0x41, address: '10.1.0.2' },
    ];
  },
  // no proxy listens
  readFile: () => '',
  connect: () => {
    throw new Error('ECONNREFUSED');
  },
  write: (_: number, text: string) => acts.push(text.trimEnd().split(' (address-missing): ')[0] ?? ''),
  random: (count: number) => Uint8Array.from(bytes.slice(0, count)),
  rest: (listeners: number[], wait: number, [command, ...numbers]: string[]) => {
    const [failures = NaN, readiness = NaN, startup = NaN] = numbers.map(Number);
    rested = [wait, { failures, readiness, startup }];
    assert.equal(command, 'recheck');
    assert.deepEqual(
      listeners,
      [readiness, startup].filter((it) => it >= 0),
    );
  },
  exit: (code: number) => {
    throw new Error(`exit ${code}`);
  },
  close: (socket: number) => socket === 5 && acts.push('closes the port'),
  socket: () => 40,
  bind: (_: number, at: string, port: number) => acts.push(`binds to ${at} ${port}`),
  listen: () => {
    if (listenError) throw new Error(listenError);
    acts.push('listens');
  },
});

const timeout = '10s';
const address = { profile: 'a', address: { timeout } };
const witness = { profile: 'a', witness: { port: 14_040, timeout } };
const policy = { profile: 'a', policy: { blocked: ['192.0.2.1:443'], timeout } };
const connect = ['192.0.2.2:1404'];
const redirect = { profile: 'a', redirect: { direction: 'outbound', listen: 4140, connect, timeout } };
const interfaces = { profile: 'b', interfaces: { timeout } };
const settings: Rechecks = { interval: 10_000, failures: 3, port: 14_041 };
const withoutPort: Rechecks = { interval: 10_000, failures: 3 };

function given(...checks: object[]) {
  const networks = { CNI_GATE_NETWORKS: 'second', CNI_GATE_POD_NAMESPACE: 'a' };
  const pod = readPod({ CNI_GATE_POD_IPS: '10.244.10.7', ...networks }, 1, () => []);
  const steps = plan(readChecks(JSON.stringify(checks)), pod);
  return { steps, pod, witness: witnessIn(steps) };
}

beforeEach(() => {
  acts = [];
  listenError = '';
  bytes = [128, 0];
  // the interfaces are not read again within some milliseconds
  kernel.now += 1000;
});

const cause = 'a address IPv4 address-missing.';
const failedFirst = ['a: address IPv4 failed', `recheck failed (1 of 3): ${cause}`];
const opens = ['binds to 0.0.0.0 14041', 'listens'];
const both = [address, redirect];

interface Row {
  what: string;
  network: Network;
  before: [failures: number, readiness: number];
  settings?: Rechecks;
  checks?: object[];
  acts: string[];
  /** How long it rests, in milliseconds, and its memory. */
  after: [wait: number, failures: number, readiness: number];
}
const rows: Row[] = [
  { what: 'a pass', network: 'works', before: [0, 5], acts: [], after: [10_000, 0, 5] },
  // it is retried for a fifth of the interval; from start to start, it is the interval
  { what: 'the first failure', network: 'broken', before: [0, 5], acts: failedFirst, after: [8200, 1, 5] },
  { what: 'the second failure', network: 'broken', before: [1, 5], acts: [], after: [8200, 2, 5] },
  {
    what: 'the last failure',
    network: 'broken',
    before: [2, 5],
    acts: [
      'closes the port',
      `network lost: 3 rechecks in a row failed, and the readiness port 14041 is closed: ${cause}`,
    ],
    after: [8200, 3, -1],
  },
  { what: 'a failure while lost', network: 'broken', before: [3, -1], acts: [], after: [8200, 4, -1] },
  {
    what: 'the last failure, without a port',
    network: 'broken',
    before: [2, -1],
    settings: withoutPort,
    acts: [`network lost: 3 rechecks in a row failed: ${cause}`],
    after: [8200, 3, -1],
  },
  {
    what: 'a failure while lost, with a long interval: retried until its time-out, and repeated soon',
    network: 'broken',
    before: [3, -1],
    settings: { ...settings, interval: 600_000 },
    acts: [],
    after: [10_000, 4, -1],
  },
  {
    what: 'a pass while lost',
    network: 'works',
    before: [3, -1],
    acts: [...opens, 'network recovered: a recheck passed, and the readiness port 14041 is open.'],
    after: [10_000, 0, 40],
  },
  {
    what: 'a pass while lost, without a port',
    network: 'works',
    before: [3, -1],
    settings: withoutPort,
    acts: ['network recovered: a recheck passed.'],
    after: [10_000, 0, -1],
  },
  {
    what: 'the first pass of a later run',
    network: 'works',
    before: [0, -1],
    acts: opens,
    after: [10_000, 0, 40],
  },
  {
    what: 'a failure of a later run',
    network: 'broken',
    before: [0, -1],
    acts: failedFirst,
    after: [2000, 1, -1],
  },
  {
    what: 'a failure of a later run, without a port',
    network: 'broken',
    before: [0, -1],
    settings: withoutPort,
    acts: failedFirst,
    after: [8200, 1, -1],
  },
  ...[
    [0, 5, 10_000],
    [3, -1, 10_000],
    [2, -1, 2000],
  ].map(
    ([failures = 0, readiness = 0, wait = 0]): Row => ({
      what: `nothing was shown, after ${failures} failures`,
      network: 'unreadable',
      before: [failures, readiness],
      acts: [],
      after: [wait, failures, readiness],
    }),
  ),
  // a pass beside a check that shows nothing, because no proxy listens
  {
    what: 'a partial pass',
    network: 'works',
    before: [2, 5],
    checks: both,
    acts: [],
    after: [8200, 0, 5],
  },
  {
    what: 'a partial pass while lost',
    network: 'works',
    before: [3, -1],
    checks: both,
    acts: [],
    after: [8200, 3, -1],
  },
  {
    what: 'a preliminary pass is enough, and a policy is tried only on request',
    network: 'works',
    before: [1, 5],
    checks: [interfaces, policy],
    acts: [],
    after: [10_000, 0, 5],
  },
  {
    what: 'only checks that show a loss are named',
    network: 'broken',
    before: [0, 5],
    checks: [address, interfaces, redirect],
    acts: failedFirst,
    after: [8200, 1, 5],
  },
];
for (const {
  what,
  network: state,
  before,
  settings: own = settings,
  checks = [address],
  acts: expected,
  after,
} of rows)
  test(`a recheck: ${what}`, async () => {
    network = state;
    const memory: Memory = { failures: before[0], readiness: before[1], startup: 6 };
    await assert.rejects(settled(recheck(memory, own, given(witness, ...checks))), /^Error: exit 69$/);
    const [wait, failures, readiness] = after;
    assert.deepEqual([acts, rested], [expected, [wait, { failures, readiness, startup: 6 }]]);
  });

test('a readiness port that is taken: the next recheck tries again', async () => {
  network = 'works';
  listenError = 'EADDRINUSE';
  const memory = { failures: 3, readiness: -1, startup: -1 };
  await assert.rejects(settled(recheck(memory, settings, given(witness, address))), /exit 69/);
  assert.equal(acts.at(-1), 'the readiness port 14041 cannot be opened: EADDRINUSE.');
  assert.deepEqual(rested, [10_000, memory]);
});

test('after the first pass: a random time, or no recheck if there is nothing to check', () => {
  const memory = { failures: 0, readiness: 5, startup: 6 };
  const all = given(witness, address).steps;
  const onlyPolicy = given(witness, policy).steps;
  const waits = [
    () => restAfterPass(settings, memory, all),
    () => restAfterPass(settings, memory, onlyPolicy),
    () => restAfterPass({ ...settings, policy: true }, memory, onlyPolicy),
    () => rest(memory),
    () => {
      bytes = [0, 0];
      restAfterPass(settings, memory, all);
    },
  ].map((act) => {
    assert.throws(act, /exit 69/);
    return rested?.[0];
  });
  assert.deepEqual(waits, [10_000, -1, 10_000, -1, 8000]);
});
