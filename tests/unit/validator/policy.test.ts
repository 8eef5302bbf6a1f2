import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../validator/pod.ts';
import type { Family } from '../../../validator/shared/addresses.ts';
import { kernel, native, settled } from './kernel.ts';

const { attemptPolicy } = await import('../../../validator/checks/policy.ts');
const { untilPassed } = await import('../../../validator/simultaneous.ts');

/* The check `policy` on a simulated network, whose answers depend on the time of a dial (a connection attempt). */

/** How a dial ends; undefined if it never ends. An error other than `reset` or `no route` comes from ICMP. */
type End = 'connected' | 'reset' | 'icmp' | 'old kernel' | 'no route' | undefined;

/** Returns how a dial to an address ends, and optionally after how many milliseconds. @param at when it begins */
type Network = (address: string, at: number) => End | [End, after: number];

const names: Record<string, string> = { both: '10.0.0.1 fd00::1', api: '10.0.0.1' };
let network: Network = () => undefined;
let begun = 0;
let dials: { address: string; at: number; end: End; ends: number }[] = [];
/** The addresses that each DNS look-up returns, by the look-up's descriptor. A text is empty once it has been read. */
let pipes = new Map<number, string>();
let closed = new Set<number>();

Object.assign(native, {
  socket: () => dials.push({ address: '', at: 0, end: undefined, ends: 0 }) - 1,
  connect: (socket: number, address: string) => {
    const at = kernel.now - begun;
    const [end, after = 1] = [network(address, at)].flat() as [End, number?];
    Object.assign(dials[socket] ?? {}, { address, at, end, ends: kernel.now + after });
    throw new Error(end === 'no route' ? 'ENETUNREACH' : 'EINPROGRESS');
  },
  icmpErrors: (socket: number) =>
    dials[socket]?.end === 'icmp' ? [{ type: 3, code: 3, from: '10.0.0.254' }] : [],
  socketError: (socket: number) => {
    const codes = { reset: 'ECONNREFUSED', 'old kernel': 'EHOSTUNREACH' } as Record<string, string>;
    const code = codes[dials[socket]?.end ?? ''];
    if (code) throw new Error(code);
  },
  localEnd: () => ({ address: '10.0.0.9', port: 1 }),
  lookUp: (name: string) => {
    const pipe = 10_000 + pipes.size;
    pipes.set(pipe, name === 'silent' ? name : (names[name] ?? '!ENOTFOUND'));
    return pipe;
  },
  close: (descriptor: number) => void closed.add(descriptor),
  read: (pipe: number) => {
    const text = pipes.get(pipe) ?? '';
    pipes.set(pipe, '');
    return new TextEncoder().encode(text);
  },
});
const isReady = (descriptor: number): boolean => {
  const dial = dials[descriptor];
  if (descriptor >= 10_000) return pipes.get(descriptor) !== 'silent';
  return dial?.end !== undefined && kernel.now >= dial.ends;
};
native.poll = (descriptors: number[], _: number[], milliseconds: number): number[] => {
  const waits = descriptors.map((it) =>
    isReady(it) ? 0 : (dials[it]?.end && dials[it].ends - kernel.now) || Infinity,
  );
  kernel.now += Math.min(milliseconds, ...waits);
  return descriptors.map((it) => (isReady(it) ? 4 : 0));
};

/** Runs the check for at most 6 s. @returns the reason or `passed`, the duration in seconds, and what was seen */
async function prove(
  blocked: string[],
  allowed: string[],
  how: Network,
  families: Family[] = ['IPv4', 'IPv6'],
) {
  network = how;
  begun = kernel.now;
  dials = [];
  pipes = new Map();
  closed = new Set();
  const pod = { families } as Pod;
  const attempt = attemptPolicy({ blocked, ...(allowed.length > 0 && { allowed }), timeout: '6s' }, pod);
  const finding = await settled(untilPassed(begun + 6000, attempt));
  const result = finding.passed ? 'passed' : finding.reason;
  return { result, seconds: (kernel.now - begun) / 1000, seen: finding.seen };
}

const [server, dns] = ['10.0.0.1', '10.0.0.53'];
const blocked = [`${server}:443`];
const allowed = [`${dns}:53`];
const [notInForce, tooStrict] = ['policy-not-in-force', 'policy-too-strict'];
type How = End | ((at: number) => End | [End, number]);

/** A network in which dials to the blocked and to the allowed target end as given. */
const ends =
  (ofServer: How, ofDns: How): Network =>
  (address, at) => {
    const how = address === server ? ofServer : ofDns;
    return typeof how === 'function' ? how(at) : how;
  };
/** A network in which the end of dials to the blocked target changes every half second, until the last of `hows`. */
const steps = (...hows: End[]): Network =>
  ends((at) => hows[Math.min(Math.floor(at / 500), hows.length - 1)], 'connected');
const open = ends('connected', 'connected');
const shut = ends(undefined, 'connected');

const rows: [what: string, how: Network, result: string][] = [
  ['an ICMP error that the kernel reports by its code only', ends('old kernel', 'connected'), 'passed'],
  ['an answer that takes a second', ends(() => ['connected', 1000], 'connected'), notInForce],
  [
    'rules that come and go',
    ends((at) => (at % 1000 < 500 ? undefined : 'connected'), 'connected'),
    notInForce,
  ],
  ['rules that come late', steps('connected', 'connected', 'connected', undefined), 'passed'],
  ['a reset connection, then rules', steps('reset', 'reset', undefined), 'passed'],
  ['no target answers once the rules are there', (_, at) => (at < 2000 ? 'connected' : undefined), tooStrict],
  ['the blocked target resets, no route to the allowed one', ends('reset', 'no route'), 'connect-refused'],
  ['no route to the blocked target, the allowed one is rejected', ends('no route', 'icmp'), 'unreachable'],
  ['the allowed target answers after a lost packet', ends(undefined, () => ['connected', 1100]), 'passed'],
];
for (const [what, how, result] of rows) {
  test(`${what}: ${result}`, async () => {
    const proof = await prove(blocked, allowed, how);
    assert.equal(proof.result, result, proof.seen);
    assert.ok(proof.seconds >= 1 && proof.seconds < 7.6, `${proof.seconds} s`);
  });
}

test('what was seen: only the problem that explains the others, and only once', async () => {
  const slow: Network = (address) => (address === server ? ['connected', 1000] : 'icmp');
  const { seen } = await prove(blocked, allowed, slow);
  assert.equal(seen, 'ICMP 3/3 from 10.0.0.254 for the allowed 10.0.0.53:53');
  const both = await prove(blocked, allowed, (address) =>
    address === server ? ['connected', 1] : undefined,
  );
  assert.equal(both.seen, 'a connection to the blocked 10.0.0.1:443');
  // all dials of an attempt are answered at the same moment, the next full second
  const late = await prove(blocked, [], (_, at) => ['connected', 1000 - (at % 1000)]);
  assert.equal(late.seen, 'a connection to the blocked 10.0.0.1:443');
});

test('each target counts, whatever its place', async () => {
  const others = ['10.0.0.7:7', '10.0.0.8:8'];
  const odd =
    (target: string, end: End, others: End): Network =>
    (address) =>
      address === target ? end : others;
  for (const target of others) {
    const [address = ''] = target.split(':');
    const open = await prove(others, [], odd(address, 'connected', undefined));
    assert.equal(open.result, 'policy-not-in-force', target);
    const shut: Network = (at) => (at === server || at === address ? undefined : 'connected');
    assert.equal((await prove(blocked, others, shut)).result, 'policy-too-strict', target);
  }
});

test('targets of a family that the pod does not have are left out', async () => {
  const shut: Network = (address) => (address.includes(':') ? 'connected' : undefined);
  assert.equal((await prove([...blocked, '[fd00::1]:443'], [], shut, ['IPv4'])).result, 'passed');
  assert.equal((await prove(['both:443'], [], shut, ['IPv4'])).result, 'passed');
  const { result, seen } = await prove(['api:443'], [], shut, ['IPv6']);
  assert.deepEqual([result, seen], ['name-unknown', "no address of the pod's family for api"]);
});

test('a name: each address of a blocked target counts, and one address of an allowed target suffices', async () => {
  const onlyIPv6: Network = (address) => (address.includes(':') ? 'connected' : undefined);
  const { result, seen } = await prove(['both:443'], [], onlyIPv6);
  assert.deepEqual([result, seen], ['policy-not-in-force', 'a connection to the blocked both:443 (fd00::1)']);
  assert.equal((await prove(['10.0.0.2:1'], ['both:443'], onlyIPv6)).result, 'passed');
  const firstResets: Network = (address) =>
    address.includes(':') ? ['connected', 100] : address === server ? 'reset' : undefined;
  assert.equal((await prove(['10.0.0.2:1'], ['both:443'], firstResets)).result, 'passed');
  const unknownAllowed = await prove(['10.0.0.2:1'], ['nobody:443'], onlyIPv6);
  assert.equal(unknownAllowed.result, 'name-unknown');
  const silent = await prove(['silent:443'], [], onlyIPv6);
  assert.deepEqual([silent.result, silent.seen], ['name-unknown', 'no answer for the name silent']);
  assert.ok(silent.seconds < 9, `${silent.seconds} s`);
  const unknown = await prove(['nobody:443'], [], onlyIPv6);
  assert.deepEqual([unknown.result, unknown.seen], ['name-unknown', 'ENOTFOUND for the name nobody']);
});

for (const after of [300, 1000]) {
  test(`an answer after ${after} ms to a dial of an earlier attempt counts`, async () => {
    const proof = await prove(blocked, allowed, (address, at) => {
      if (address === dns) return at === 0 ? 'reset' : 'connected';
      // the first packet is lost, and its retransmission is answered
      return at === 0 ? ['connected', after] : undefined;
    });
    assert.equal(proof.result, 'passed', proof.seen);
    assert.ok(proof.seconds > after / 1000 + 1.1, `${proof.seconds} s`);
  });
}

test('few dials: at most three a second while a blocked target answers, and four when none does', async () => {
  await prove(blocked, allowed, open);
  const answered = dials.filter(({ address }) => address === server).length;
  assert.ok(answered <= 18, `${answered} dials in 6 s`);
  const { seconds } = await prove(blocked, allowed, shut);
  assert.deepEqual([dials.length, seconds], [8, 1]);
  // the check must close its connections, because open ones count towards the target's limits
  assert.deepEqual(
    dials.flatMap(({ end }, index) => (end === 'connected' && !closed.has(index) ? [index] : [])),
    [],
  );
  await prove(['api:443'], [], steps('connected', 'connected', undefined));
  assert.equal(pipes.size, 1);
});
