import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { type Rechecks, readChecks } from '../../../validator/input.ts';
import type { Memory } from '../../../validator/recheck.ts';
import { kernel, native, settled } from './kernel.ts';

const { plan } = await import('../../../validator/plan.ts');
const { witnessIn } = await import('../../../validator/prove.ts');
const { recheck, rest, restAfterPass } = await import('../../../validator/recheck.ts');
const { readPod } = await import('../../../validator/pod.ts');

/* A complete recheck, and the pause after it, on a simulated host. */

/** The pod's network: it works, the address is missing, or it cannot be read. */
type Network = 'works' | 'broken' | 'unreadable';
let network: Network = 'works';
/** The lines that the program logs, and its operations on sockets. */
let acts: string[] = [];
/** The length of the program's pause, and the memory that it keeps meanwhile. */
let rested: [wait: number, memory: Memory] | undefined;
/** The code of the error when the program listens; empty if it succeeds. */
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

function proving(...checks: object[]) {
  const networks = { CNI_GATE_NETWORKS: 'second', CNI_GATE_POD_NAMESPACE: 'a' };
  const pod = readPod({ CNI_GATE_POD_IPS: '10.244.10.7', ...networks }, 1, () => []);
  const steps = plan(readChecks(JSON.stringify(checks)), pod);
  return { steps, pod, witness: witnessIn(steps) };
}

beforeEach(() => {
  acts = [];
  listenError = '';
  bytes = [128, 0];
  // the program does not read the interfaces twice within a few milliseconds
  kernel.now += 1000;
});

const cause = 'a address IPv4 address-missing.';
const failedFirst = ['a: address IPv4 failed', `recheck failed (1 of 3): ${cause}`];
const opens = ['binds to 0.0.0.0 14041', 'listens'];
const recovered = 'network recovered: a recheck passed';
const lost = 'network lost: 3 rechecks in a row failed';
const isClosed = `${lost}, and the readiness port 14041 is closed: ${cause}`;
const withoutPort = { given: { interval: 10_000, failures: 3 } };
const long = { given: { ...settings, interval: 600_000 } };
const both = { checks: [address, redirect] };
const others = { checks: [interfaces, policy] };
const all = { checks: [address, interfaces, redirect] };

/** `before` and `after` a recheck: failures and the readiness port's descriptor; `after` also has the pause. */
const rows: [
  what: string,
  network: Network,
  before: [failures: number, readiness: number],
  acts: string[],
  after: [wait: number, failures: number, readiness: number],
  more?: { given?: Rechecks; checks?: object[] },
][] = [
  ['a pass', 'works', [0, 5], [], [10_000, 0, 5]],
  // a failing recheck retries for a fifth of the interval; the interval is from start to start
  ['the first failure', 'broken', [0, 5], failedFirst, [8200, 1, 5]],
  ['the second failure', 'broken', [1, 5], [], [8200, 2, 5]],
  ['the last failure', 'broken', [2, 5], ['closes the port', isClosed], [8200, 3, -1]],
  ['the last failure, no port', 'broken', [2, -1], [`${lost}: ${cause}`], [8200, 3, -1], withoutPort],
  ['a failure while lost', 'broken', [3, -1], [], [8200, 4, -1]],
  // with a long interval, a check retries until its time-out, and the next recheck follows soon
  ['a failure while lost, a long interval', 'broken', [3, -1], [], [10_000, 4, -1], long],
  [
    'a pass while lost',
    'works',
    [3, -1],
    [...opens, `${recovered}, and the readiness port 14041 is open.`],
    [10_000, 0, 40],
  ],
  ['a pass while lost, no port', 'works', [3, -1], [`${recovered}.`], [10_000, 0, -1], withoutPort],
  ['the first pass of a later run', 'works', [0, -1], opens, [10_000, 0, 40]],
  ['a failure of a later run', 'broken', [0, -1], failedFirst, [2000, 1, -1]],
  ['a failure of a later run, no port', 'broken', [0, -1], failedFirst, [8200, 1, -1], withoutPort],
  ['nothing is shown', 'unreadable', [0, 5], [], [10_000, 0, 5]],
  ['nothing is shown while lost', 'unreadable', [3, -1], [], [10_000, 3, -1]],
  ['nothing is shown after failures of a later run', 'unreadable', [2, -1], [], [2000, 2, -1]],
  // one check passes, and the other one shows nothing, because no proxy listens
  ['a partial pass', 'works', [2, 5], [], [8200, 0, 5], both],
  ['a partial pass while lost', 'works', [3, -1], [], [8200, 3, -1], both],
  ['a preliminary pass is enough, and no policy is tried', 'works', [1, 5], [], [10_000, 0, 5], others],
  ['only checks that show a loss are named', 'broken', [0, 5], failedFirst, [8200, 1, 5], all],
];
for (const [what, state, before, expected, [wait, failures, readiness], more = {}] of rows)
  test(`a recheck: ${what}`, async () => {
    network = state;
    const memory: Memory = { failures: before[0], readiness: before[1], startup: 6 };
    const { given = settings, checks = [address] } = more;
    await assert.rejects(settled(recheck(memory, given, proving(witness, ...checks))), /^Error: exit 69$/);
    assert.deepEqual([acts, rested], [expected, [wait, { failures, readiness, startup: 6 }]]);
  });

test('a readiness port that is taken: the next recheck tries again', async () => {
  network = 'works';
  listenError = 'EADDRINUSE';
  const memory = { failures: 3, readiness: -1, startup: -1 };
  await assert.rejects(settled(recheck(memory, settings, proving(witness, address))), /exit 69/);
  assert.equal(acts.at(-1), 'the readiness port 14041 cannot be opened: EADDRINUSE.');
  assert.deepEqual(rested, [10_000, memory]);
});

test('after the first pass: a random time, or no recheck if there is nothing to check', () => {
  const memory = { failures: 0, readiness: 5, startup: 6 };
  const all = proving(witness, address).steps;
  const onlyPolicy = proving(witness, policy).steps;
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
