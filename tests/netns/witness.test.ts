import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { configurationOf } from '../support/configurations.ts';
import { type Family, nodeAddress, podAddress } from './harness/addresses.ts';
import { dialFromNode } from './harness/dial.ts';
import { requireMachine } from './harness/machine.ts';
import { injected, type PodSpecimen, specimens } from './harness/pods.ts';
import { type Proof, type RunningProof, startProof } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';
import type { Shape } from './harness/shape.ts';
import { istio } from './rules/istio.ts';
import { linkerd } from './rules/linkerd.ts';
import type { Step } from './table/plan.ts';
import { states as ways } from './table/states.ts';
import { flush, write } from './table/steps.ts';

/*
 * The kubelet as a witness: what the validator says, beside what happens to the kubelet's connections. The kubelet is a
 * loop that dials the startup probe from the node, once a second.
 */

before(requireMachine);

const configuration = configurationOf({ profiles: [{ name: 'seen', proof: { witness: 'kubelet' } }] });
const plain: PodSpecimen = { profile: 'seen' };
const linkerdPod: PodSpecimen = { ...specimens.linkerd, profile: 'linkerd.seen' };
const istioPod: PodSpecimen = { ...specimens.istio, profile: 'istio.seen' };

const rule =
  (where: 'pod' | 'node', ...lines: string[]): Step =>
  async (sandbox) =>
    void (await sandbox.exec(where, 'nft', ['-f', '-'], `table inet state {\n${lines.join('\n')}\n}\n}\n`));
const noRouteBack: Step = (sandbox) =>
  void sandbox.ip('node', ...sandbox.familyList.map((family) => `route del ${podAddress[family]}`));
const flushInbound: Step = async (sandbox) => {
  for (const program of ['iptables', 'ip6tables'])
    await sandbox.exec('pod', `${program}-nft`, ['-t', 'nat', '-F', 'PREROUTING']);
};
/** Only what the node begins, and its answers: the kubelet is always let through. */
const denyAll = rule(
  'node',
  'chain in { type filter hook prerouting priority -100;',
  'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept',
  'ct state established,related accept',
  'iifname pod0 drop',
);
interface State {
  what: string;
  pod: PodSpecimen;
  steps?: Step[];
  shape?: Partial<Shape>;
  /** Applied while the kubelet is awaited, after so many milliseconds. */
  late?: { after: number; step: Step };
  /** The first of the kubelet's dials comes after so many milliseconds. */
  dialsFrom?: number;
  /** The port where the kubelet's connection comes, or the reason of the failure. */
  expected: number | string;
}

const states: State[] = [
  { what: 'a correct pod', pod: plain, expected: 14_040 },
  { what: 'a correct pod of IPv6', pod: plain, shape: { families: 'ipv6' }, expected: 14_040 },
  {
    what: 'linkerd, and a policy denies all but the node',
    pod: linkerdPod,
    steps: [write(linkerd()), denyAll],
    expected: 4143,
  },
  { what: 'linkerd', pod: linkerdPod, steps: [write(linkerd())], expected: 4143 },
  {
    what: 'linkerd, IPv6',
    pod: linkerdPod,
    steps: [write(linkerd())],
    shape: { families: 'ipv6' },
    expected: 4143,
  },
  { what: 'Istio', pod: istioPod, steps: [write(istio())], expected: 15_006 },
  {
    what: 'linkerd, PREROUTING flushed',
    pod: linkerdPod,
    steps: [write(linkerd()), flushInbound],
    expected: 'inbound-not-redirected',
  },
  {
    what: "Istio, PREROUTING flushed, which Istio's validation does not need from inside",
    pod: istioPod,
    steps: [write(istio()), flushInbound],
    expected: 'inbound-not-redirected',
  },
  {
    what: 'linkerd, no route to the pod',
    pod: linkerdPod,
    steps: [write(linkerd()), noRouteBack],
    expected: 'not-reached',
  },
  {
    what: 'linkerd, inbound rules that come a moment late',
    pod: linkerdPod,
    steps: [write(linkerd()), flushInbound],
    late: {
      after: 3000,
      step: (sandbox) => void sandbox.exec('pod', 'sh', ['-c', lateInbound]),
    },
    expected: 4143,
  },
  {
    what: 'linkerd, a peer that dials the pod before the kubelet does',
    pod: linkerdPod,
    steps: [write(linkerd()), (sandbox) => dialEachSecond(sandbox, 2380)],
    dialsFrom: 3000,
    expected: 4143,
  },
  {
    what: 'linkerd, all rules flushed before the kubelet comes',
    pod: linkerdPod,
    steps: [write(linkerd())],
    late: { after: 1000, step: flush },
    dialsFrom: 4000,
    expected: 'not-redirected',
  },
];

const lateInbound =
  'for it in iptables ip6tables; do $it-nft -t nat -A PREROUTING -j PROXY_INIT_REDIRECT; done';

describe('the witness, beside the truth', { concurrency: 9 }, () => {
  for (const { what, pod, steps = [], shape, late, dialsFrom = 0, expected } of states) {
    test(`${what}: ${expected}`, async () => {
      await using sandbox = await Sandbox.make({ gateway: 'by-link-route', ...shape });
      for (const step of steps) await step(sandbox);
      const { proof, connected } = await witnessed(sandbox, pod, { late, dialsFrom });
      const passes = typeof expected === 'number';
      // the kubelet starts the next container as soon as it is connected
      assert.equal(connected, passes, proof.log);
      assert.equal(proof.code, passes ? 0 : 95, proof.log);
      if (passes) assert.match(proof.log, new RegExp(`witness IPv. passed: .* come to port ${expected}\\.`));
      else
        assert.ok(
          proof.message.checks.some(({ reason }) => reason === expected),
          proof.log,
        );
    });
  }

  // the page says so of each
  for (const { what, shape, step, works } of ways) {
    test(`${what}: ${works ? 'passed' : 'not-reached'}`, async () => {
      await using sandbox = await Sandbox.make(shape);
      await step(sandbox);
      const { proof, connected } = await witnessed(sandbox, plain, {});
      assert.deepEqual([connected, proof.code], [works, works ? 0 : 95], proof.log);
      if (!works) assert.equal(proof.message.checks[0]?.reason, 'not-reached', proof.log);
    });
  }

  test('only the mesh has failed where its rule is missing', async () => {
    await using sandbox = await Sandbox.make({ families: 'ipv4' });
    await write(linkerd())(sandbox);
    await flushInbound(sandbox);
    const { proof } = await witnessed(sandbox, linkerdPod, {});
    const failed = proof.message.checks.filter(({ passed }) => !passed).map(({ profile }) => profile);
    assert.deepEqual(failed, ['linkerd'], proof.log);
  });
});

test('at rest: less than 1 MB of memory of its own, and the end comes at once', async () => {
  await using sandbox = await Sandbox.make({ families: 'ipv4' });
  const running = startProof(sandbox, plain, { configuration });
  await running.started;
  await kubelet(sandbox, running, portOf(plain));
  await sleep(500);
  const memory = readFileSync(`/proc/${running.pid()}/smaps_rollup`, 'utf8');
  const own = [...memory.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm)].map(([, kB]) => Number(kB));
  const start = performance.now();
  running.signal('SIGTERM');
  const { code } = await running.ended;
  assert.equal(code, 0);
  assert.ok(performance.now() - start < 100, `${performance.now() - start} ms`);
  const sum = own.reduce((a, b) => a + b, 0);
  console.log(`${sum} kB of memory at rest`);
  assert.ok(own.length === 2 && sum < 1000, memory);
});

/** The port of the startup probe. */
function portOf(pod: PodSpecimen): number {
  const probe = injected(pod, 'enforce', configuration).container.startupProbe;
  return (probe as { tcpSocket: { port: number } }).tcpSocket.port;
}

/** Runs the validator with a kubelet that dials it, until it fails, or ends it a moment after it was reached. */
async function witnessed(
  sandbox: Sandbox,
  pod: PodSpecimen,
  { late, dialsFrom = 0 }: { late?: State['late'] | undefined; dialsFrom?: number },
): Promise<{ proof: Proof; connected: boolean }> {
  const running = startProof(sandbox, pod, { configuration });
  await running.started;
  const changed = late && sleep(late.after).then(() => late.step(sandbox));
  await sleep(dialsFrom);
  const connected = await kubelet(sandbox, running, portOf(pod));
  await changed;
  if (connected) {
    await sleep(500);
    running.signal('SIGTERM');
  }
  return { proof: await running.ended, connected };
}

/** Dials once a second until a connect succeeds or the validator ends. Returns whether one did. */
async function kubelet(sandbox: Sandbox, running: RunningProof, port: number): Promise<boolean> {
  let ended = false;
  void running.ended.then(() => {
    ended = true;
  });
  // a test may take the node's own address
  const hasAddress = (await sandbox.exec('node', 'ip', ['address', 'show', 'lo'])).includes(nodeAddress.ipv4);
  const family: Family = sandbox.families === 'ipv6' ? 'ipv6' : 'ipv4';
  while (!ended) {
    const host = podAddress[family];
    const [result] = await dialFromNode(sandbox, [
      { host, port, only: 'connect', ...(hasAddress && { from: nodeAddress[family] }) },
    ]);
    if (result === 'connected') return true;
    await sleep(1000);
  }
  return false;
}

/** A peer that waits for the pod. */
async function dialEachSecond(sandbox: Sandbox, port: number): Promise<void> {
  const loop = `while sleep 0.3; do (: < /dev/tcp/${podAddress.ipv4}/${port}) 2> /dev/null; done`;
  void sandbox.exec('node', 'timeout', ['8', 'bash', '-c', loop]).catch(() => {});
}
