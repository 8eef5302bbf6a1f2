import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { type Rechecks, readChecks } from '../../../validator/input.ts';
import type { Memory } from '../../../validator/recheck.ts';
import { kernel, native, settled, turns } from './kernel.ts';

const { plan } = await import('../../../validator/plan.ts');
const { witnessIn } = await import('../../../validator/prove.ts');
const { adoptListeners, recheck, rest, restAfterPass } = await import('../../../validator/recheck.ts');
const { readPod } = await import('../../../validator/pod.ts');

/* A whole recheck, and the program at rest, on a simulated host. */

/** The pod's address; absent if the network is broken. */
let address: string | undefined;
/** What the program does, in order. */
let acts: string[] = [];
/** The code of the error on listening. */
let listenError: string | undefined;
/** The next bytes of the random generator. */
let bytes = [128, 0];

Object.assign(native, {
  interfaces: () => [{ name: 'eth0', flags: 0x41, ...(address && { address }) }],
  write: (_: number, text: string) => acts.push(text.trimEnd()),
  random: (count: number) => Uint8Array.from(bytes.slice(0, count)),
  rest: (...given: unknown[]) => acts.push(`rests ${JSON.stringify(given)}`),
  exit: (code: number) => {
    throw new Error(`exit ${code}`);
  },
  close: (socket: number) => acts.push(`closes ${socket}`),
  socket: (family: number) => family * 10,
  bind: (socket: number, at: string, port: number) => acts.push(`binds ${socket} to ${at} ${port}`),
  listen: (socket: number) => {
    if (listenError) throw new Error(listenError);
    acts.push(`listens ${socket}`);
  },
  adopt: (socket: number) => socket,
});

const timeout = '10s';
const asked = readChecks(
  JSON.stringify([
    { profile: 'a', address: { timeout } },
    { profile: 'a', witness: { port: 14_040, timeout } },
  ]),
);
const pod = readPod({ CNI_GATE_POD_IPS: '10.244.10.7' }, 1, () => []);
const steps = plan(asked, pod);
const witness = witnessIn(steps);
const settings: Rechecks = { interval: 10_000, failures: 3, port: 14_041 };

beforeEach(() => {
  address = '10.244.10.7';
  acts = [];
  listenError = undefined;
  bytes = [128, 0];
  kernel.happened = () => 0;
  // the interfaces are not read again within some milliseconds
  kernel.now += 1000;
});

/** What a recheck does, and how long it takes. */
async function after(memory: Memory, given = settings): Promise<[acts: string[], took: number]> {
  const start = kernel.now;
  await assert.rejects(settled(recheck(memory, given, { steps, pod, witness })), /^Error: exit 69$/);
  return [acts, kernel.now - start];
}

const rests = (wait: number, { failures, readiness, startup }: Memory): string => {
  const listeners = [readiness, startup].filter((it) => it >= 0);
  return `rests ${JSON.stringify([listeners, wait, ['recheck', `${failures}`, `${readiness}`, `${startup}`]])}`;
};

test('a recheck that passes: it says nothing, and rests for a random time', async () => {
  for (const [failures, high, low, wait] of [
    [0, 0, 0, 8000],
    [2, 128, 0, 10_000],
    [0, 255, 255, 12_000],
  ] as const) {
    acts = [];
    bytes = [high, low];
    const memory = { failures, readiness: 5, startup: 6 };
    assert.deepEqual(await after(memory), [[rests(wait, { ...memory, failures: 0 })], 0]);
  }
});

test('a recheck that fails: it is retried for a fifth of the interval, and says why at the first failure', async () => {
  address = undefined;
  bytes = [0, 0];
  const [[why, count, end], took] = await after({ failures: 0, readiness: 5, startup: -1 });
  assert.match(why ?? '', /^a: address IPv4 failed \(address-missing\): expected 10\.244\.10\.7 /);
  assert.equal(count, 'recheck failed (1 of 3): a address IPv4 address-missing.');
  assert.ok(took > 1500 && took <= 2000, `${took}`);
  // from start to start, it is the interval
  assert.equal(end, rests(10_000 - took, { failures: 1, readiness: 5, startup: -1 }));

  acts = [];
  const [second, tookAgain] = await after({ failures: 1, readiness: 5, startup: -1 });
  assert.deepEqual(second, [rests(10_000 - tookAgain, { failures: 2, readiness: 5, startup: -1 })]);
});

test('a check is retried for no longer than its time-out', async () => {
  address = undefined;
  const [, took] = await after(
    { failures: 1, readiness: 5, startup: -1 },
    { ...settings, interval: 3_600_000 },
  );
  assert.ok(took > 9000 && took <= 10_000, `${took}`);
});

test('the last failure closes the port, and later ones find it closed', async () => {
  address = undefined;
  const [[closes, lost, end], took] = await after({ failures: 2, readiness: 5, startup: 6 });
  const cause = 'a address IPv4 address-missing.';
  const says = 'network lost: 3 rechecks in a row failed';
  assert.equal(lost, `${says}, and the readiness port 14041 is closed: ${cause}`);
  assert.equal(closes, 'closes 5');
  assert.equal(end, rests(10_000 - took, { failures: 3, readiness: -1, startup: 6 }));

  acts = [];
  const [later] = await after({ failures: 3, readiness: -1, startup: 6 });
  assert.deepEqual(later, [rests(10_000 - took, { failures: 4, readiness: -1, startup: 6 })]);

  // while the network is lost, the wait is short, however long the interval is
  acts = [];
  const [long] = await after({ failures: 3, readiness: -1, startup: 6 }, { ...settings, interval: 600_000 });
  assert.deepEqual(long, [rests(10_000, { failures: 4, readiness: -1, startup: 6 })]);

  acts = [];
  const { port: _, ...withoutPort } = settings;
  const [logged] = await after({ failures: 2, readiness: -1, startup: 6 }, withoutPort);
  assert.equal(logged[0], `${says}: ${cause}`);
});

test('the first pass opens the port; without a port, it is only logged', async () => {
  const lost = { failures: 3, readiness: -1, startup: -1 };
  const [opened] = await after(lost);
  assert.deepEqual(opened, [
    'binds 40 to 0.0.0.0 14041',
    'listens 40',
    'network recovered: a recheck passed, and the readiness port 14041 is open.',
    rests(10_000, { ...lost, failures: 0, readiness: 40 }),
  ]);

  acts = [];
  const { port: _, ...withoutPort } = settings;
  const [said] = await after(lost, withoutPort);
  assert.deepEqual(said, ['network recovered: a recheck passed.', rests(10_000, { ...lost, failures: 0 })]);

  // in a run after a pass, the first pass is no recovery
  for (const failures of [0, 2]) {
    acts = [];
    const [first] = await after({ ...lost, failures });
    assert.deepEqual(first.slice(1), ['listens 40', rests(10_000, { ...lost, failures: 0, readiness: 40 })]);
  }
});

test('a run after a pass whose recheck fails: the port stays closed', async () => {
  address = undefined;
  const [[, count, end]] = await after({ failures: 0, readiness: -1, startup: -1 });
  assert.match(count ?? '', /^recheck failed \(1 of 3\)/);
  // the next recheck follows soon, because it is not known yet whether the network works
  assert.equal(end, rests(2000, { failures: 1, readiness: -1, startup: -1 }));

  acts = [];
  const { port: _, ...withoutPort } = settings;
  const [without, took] = await after({ failures: 0, readiness: -1, startup: -1 }, withoutPort);
  assert.equal(without[2], rests(10_000 - took, { failures: 1, readiness: -1, startup: -1 }));
});

test('only the checks that show a loss are named, and only the requested ones are repeated', async () => {
  const given = readChecks(
    JSON.stringify([
      { profile: 'a', address: { timeout } },
      { profile: 'b', interfaces: { timeout } },
      { profile: 'c', policy: { blocked: ['192.0.2.1:443'], timeout } },
    ]),
  );
  address = undefined;
  const several = { steps: plan(given, pod), pod, witness };
  const memory = { failures: 0, readiness: 5, startup: -1 };
  await assert.rejects(settled(recheck(memory, settings, several)), /exit 69/);
  assert.deepEqual(
    acts.slice(0, -1).map((act) => act.split(' (')[0]),
    ['a: address IPv4 failed', 'recheck failed'],
  );
  assert.equal(acts[1], 'recheck failed (1 of 3): a address IPv4 address-missing.');

  // a policy that was not requested is not tried: no connection
  acts = [];
  address = '10.244.10.7';
  kernel.now += 1000;
  await assert.rejects(settled(recheck(memory, settings, several)), /exit 69/);
  assert.deepEqual(acts, [rests(10_000, memory)]);
});

test('a preliminary pass is enough: the first proof has waited for the final one', async () => {
  const given = readChecks(JSON.stringify([{ profile: 'a', interfaces: { timeout } }]));
  const interfaces = native.interfaces;
  native.interfaces = () => [{ name: 'net1', flags: 0x41, address: '10.1.0.2' }];
  kernel.now += 1000;
  const start = kernel.now;
  const memory = { failures: 1, readiness: 5, startup: -1 };
  const networks = {
    CNI_GATE_POD_IPS: '10.244.10.7',
    CNI_GATE_NETWORKS: 'second',
    CNI_GATE_POD_NAMESPACE: 'a',
  };
  const asking = readPod(networks, 1, () => []);
  const all = { steps: plan(given, asking), pod: asking, witness };
  await assert.rejects(settled(recheck(memory, settings, all)), /exit 69/);
  assert.ok(kernel.now - start < 200, `${kernel.now - start}`);
  assert.match(acts.at(-1) ?? '', /"recheck","0","5","-1"/);
  native.interfaces = interfaces;
});

test('a port that is taken: the next recheck tries again', async () => {
  listenError = 'EADDRINUSE';
  const memory = { failures: 3, readiness: -1, startup: -1 };
  const [acted] = await after(memory);
  assert.deepEqual(acted.slice(-2), [
    'the readiness port 14041 cannot be opened: EADDRINUSE.',
    rests(10_000, memory),
  ]);
});

test('an inconclusive recheck changes nothing, and logs nothing', async () => {
  const interfaces = native.interfaces;
  native.interfaces = () => {
    throw new Error('EMFILE');
  };
  for (const [failures, readiness, wait] of [
    [0, 5, 10_000],
    [2, 5, 10_000],
    [3, -1, 10_000],
    [2, -1, 2000],
  ] as const) {
    acts = [];
    const memory = { failures, readiness, startup: -1 };
    assert.deepEqual((await after(memory))[0], [rests(wait, memory)]);
  }
  native.interfaces = interfaces;
});

test('an inconclusive finding beside a pass is a pass, unless the network is lost', async () => {
  const given = readChecks(
    JSON.stringify([
      { profile: 'a', address: { timeout } },
      {
        profile: 'a',
        redirect: { direction: 'outbound', listen: 4140, connect: ['192.0.2.2:1404'], timeout },
      },
    ]),
  );
  // no proxy listens
  Object.assign(native, {
    readFile: () => '',
    route: () => {
      throw new Error('ENETUNREACH');
    },
    connect: () => {
      throw new Error('ECONNREFUSED');
    },
  });
  const both = { steps: plan(given, pod), pod, witness };
  for (const [failures, readiness, then] of [
    [2, 5, { failures: 0, readiness: 5 }],
    [2, -1, { failures: 0, readiness: 40 }],
    [3, -1, { failures: 3, readiness: -1 }],
  ] as const) {
    acts = [];
    const memory = { failures, readiness, startup: -1 };
    await assert.rejects(settled(recheck(memory, settings, both)), /exit 69/);
    const expected = ['recheck', `${then.failures}`, `${then.readiness}`, '-1'];
    assert.match(acts.at(-1) ?? '', new RegExp(JSON.stringify(expected).slice(1, -1)), `${failures}`);
  }
});

test('a container that is restarted while an agent restarts: the port opens soon afterwards', async () => {
  let memory: Memory = { failures: 0, readiness: -1, startup: -1 };
  const start = kernel.now;
  address = undefined;
  while (memory.readiness < 0) {
    assert.ok(kernel.now - start < 51_000);
    if (kernel.now - start >= 40_000) address = '10.244.10.7';
    acts = [];
    await after(memory, { ...settings, interval: 3_600_000 });
    const [, wait, next] = JSON.parse((acts.at(-1) ?? '').slice('rests '.length));
    const [failures, readiness, startup] = next.slice(1).map(Number);
    memory = { failures, readiness, startup };
    kernel.now += wait;
  }
});

test('after the first pass: a random time, or no recheck if there is nothing to check', () => {
  const memory = { failures: 0, readiness: 5, startup: 6 };
  const given = readChecks(
    JSON.stringify([
      { profile: 'a', witness: { port: 14_040, timeout } },
      { profile: 'a', policy: { blocked: ['192.0.2.1:443'], timeout } },
    ]),
  );
  const onlyPolicy = plan(given, pod);
  assert.throws(() => restAfterPass(settings, memory, steps), /exit 69/);
  assert.throws(() => restAfterPass(settings, memory, onlyPolicy), /exit 69/);
  assert.throws(() => restAfterPass({ ...settings, policy: true }, memory, onlyPolicy), /exit 69/);
  assert.throws(() => rest({ ...memory, startup: -1 }), /exit 69/);
  bytes = [0, 0];
  assert.throws(() => restAfterPass(settings, memory, steps), /exit 69/);
  assert.deepEqual(acts, [
    rests(10_000, memory),
    rests(-1, memory),
    rests(10_000, memory),
    rests(-1, { ...memory, startup: -1 }),
    rests(8000, memory),
  ]);
});

test('the listeners of the program at rest continue to accept and close connections', async () => {
  const adopted: number[] = [];
  native.adopt = (socket: number) => {
    adopted.push(socket);
    return socket + 20;
  };
  const waiting = new Map([
    [25, [101, 102]],
    [26, [103]],
  ]);
  kernel.happened = (socket, wanted) => (waiting.get(socket)?.length ? wanted : 0);
  native.accept = (socket: number) => {
    const connection = waiting.get(socket)?.shift();
    if (connection === undefined) throw new Error('EAGAIN');
    return connection;
  };
  adoptListeners({ failures: 0, readiness: 5, startup: -1 });
  adoptListeners({ failures: 0, readiness: -1, startup: 6 });
  await turns(2);
  assert.deepEqual(adopted, [5, 6]);
  assert.deepEqual(acts, ['closes 101', 'closes 102', 'closes 103']);
});
