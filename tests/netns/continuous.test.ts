import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Continuous } from '../../validator/shared/contract.ts';
import { nodeAddress, podAddress } from './harness/addresses.ts';
import { dialFrom } from './harness/dial.ts';
import { listen } from './harness/listeners.ts';
import { type PodSpecimen, specimens } from './harness/pods.ts';
import { startProof } from './harness/proof.ts';
import {
  configuration,
  everySecond,
  isOpen,
  isRechecking,
  ports,
  startWatched,
  staysOpen,
  until,
} from './harness/rechecks.ts';
import { Sandbox } from './harness/sandbox.ts';
import { ambient } from './rules/ambient.ts';
import { istio } from './rules/istio.ts';
import { linkerd } from './rules/linkerd.ts';
import { istioPod, linkerdPod } from './table/inbound.ts';
import type { Step } from './table/plan.ts';
import {
  addSecondInterface,
  downSecondInterface,
  dropEverything,
  exchangeAddress,
  flush,
  listenInPod,
  openZtunnel,
  restoreAddress,
  write,
} from './table/steps.ts';

/* Rechecks of a running pod, once a second. A stand-in for the proxy listens on the proxy's ports. */

const ofLinkerd = write(linkerd({ skippedInbound: '14041' }));
const wayPod: PodSpecimen = { profile: 'way.seen' };

interface Later {
  what: string;
  pod: PodSpecimen;
  /** Steps before the first proof, and steps after it. */
  before?: Step[];
  after?: Step[];
  breaks: Step;
  mends: Step;
  reason: string;
  continuous?: Partial<Continuous>;
  /** The address from which the kubelet connects, if it is not the usual one. */
  from?: string;
}

const inNode =
  (...rules: string[]): Step =>
  async (sandbox) =>
    void (await sandbox.exec('node', 'nft', ['-f', '-'], `${rules.join('\n')}\n`));
const deny = inNode(
  'table inet agent { chain c { type filter hook input priority 0; tcp dport 443 drop; }; }',
);
const ambientPod: PodSpecimen = {
  ...specimens['istio-ambient'],
  profile: 'istio-ambient.seen',
};

const laterForms: Later[] = [
  {
    what: "linkerd's rules",
    pod: linkerdPod,
    before: [ofLinkerd],
    after: [listenInPod(4140)],
    breaks: flush,
    mends: ofLinkerd,
    reason: 'not-redirected',
  },
  {
    what: "linkerd's rules, and a proxy that closes each connection",
    pod: linkerdPod,
    before: [ofLinkerd],
    after: [listenInPod(4140, 'close')],
    breaks: flush,
    mends: ofLinkerd,
    reason: 'not-redirected',
  },
  {
    what: "Istio's rules",
    pod: istioPod,
    before: [write(istio())],
    after: [listenInPod(15_006)],
    breaks: flush,
    mends: write(istio()),
    reason: 'not-redirected',
  },
  {
    what: "the ambient mesh's rules",
    pod: ambientPod,
    before: [
      write(ambient()),
      openZtunnel,
      async (sandbox) => void (await sandbox.ip('node', 'addr add 169.254.7.127/32 dev lo')),
    ],
    from: '169.254.7.127',
    breaks: flush,
    mends: write(ambient()),
    reason: 'not-captured',
  },
  {
    what: "the pod's address",
    pod: wayPod,
    breaks: exchangeAddress,
    mends: restoreAddress,
    reason: 'address-missing',
  },
  {
    what: 'the default route',
    pod: wayPod,
    breaks: async (sandbox) => void (await sandbox.ip('pod', 'route del default')),
    mends: async (sandbox) => void (await sandbox.ip('pod', 'route add default via 10.244.1.1 dev eth0')),
    reason: 'no-default-route',
  },
  {
    what: 'the second interface',
    pod: { ...specimens.multus, profile: 'multus.seen' },
    before: [addSecondInterface()],
    breaks: downSecondInterface,
    mends: async (sandbox) => void (await sandbox.ip('pod', 'link set net1 up')),
    reason: 'interface-down',
  },
  {
    what: 'the policy, where it is rechecked',
    pod: { profile: 'guarded.seen', namespaceLabels: { guarded: 'yes' } },
    before: [
      deny,
      (sandbox) => listen(sandbox, 'node', { host: '0.0.0.0', tcp: [443, 53], manner: 'silent' }),
    ],
    breaks: inNode('delete table inet agent'),
    mends: deny,
    reason: 'policy-not-in-force',
    continuous: { policy: true },
  },
];

describe('each check closes the port when it fails, and opens it again', { concurrency: 5 }, () => {
  for (const { what, pod, before = [], after = [], breaks, mends, reason, continuous, from } of laterForms) {
    test(what, async () => {
      await using sandbox = await Sandbox.make({ families: 'ipv4', gateway: 'by-link-route' });
      for (const step of before) await step(sandbox);
      const running = await startWatched(sandbox, pod, { ...everySecond, ...continuous }, from);
      for (const step of after) await step(sandbox);
      await staysOpen(running, 3000);
      const start = performance.now();
      await breaks(sandbox);
      await until(running, () => !isOpen(running), 'the port closes');
      // three failed rechecks span two intervals
      assert.ok(performance.now() - start >= 1900, running.log());
      await mends(sandbox);
      await until(running, () => isOpen(running), 'the port opens');
      running.signal('SIGTERM');
      const { code, log } = await running.ended;
      assert.equal(code, 0, log);
      assert.match(log, /^\S+: \S+(?: IPv4)? failed \(/m);
      assert.match(log, /^recheck failed \(1 of 3\): /m);
      const lost = `network lost: 3 rechecks in a row failed, and the readiness port 14041 is closed: .*${reason}`;
      assert.match(log, new RegExp(`^${lost}`, 'm'));
      assert.match(log, /^network recovered: .* 14041 is open\.$/m);
      assert.equal(log.match(/^network /gm)?.length, 2, log);
    });
  }
});

describe('the program', { concurrency: 3 }, () => {
  test('a run after a pass opens the port when the network works, and has no verdict', async () => {
    await using sandbox = await Sandbox.make({ families: 'ipv4' });
    await ofLinkerd(sandbox);
    const first = await startWatched(sandbox, linkerdPod);
    await listen(sandbox, 'pod', { host: '0.0.0.0', tcp: [4140, 4143], manner: 'silent' });
    first.signal('SIGKILL');
    await first.ended;
    await flush(sandbox);
    const again = startProof(sandbox, linkerdPod, { configuration, continuous: everySecond });
    await until(again, () => again.log().includes('recheck failed'), 'a recheck');
    for (let count = 0; count < 100; count++, await sleep(30))
      assert.equal(isOpen(again), false, again.log());
    await ofLinkerd(sandbox);
    await until(again, () => isOpen(again), 'the port opens');
    // the log may contain a loss from before the port opened
    for (let count = 0; count < 60; count++, await sleep(50)) assert.ok(isOpen(again), again.log());
    again.signal('SIGTERM');
    const { code, message, log } = await again.ended;
    assert.deepEqual([code, message.verdict], [0, undefined], log);
    assert.doesNotMatch(log, /^verdict/m);
  });

  test('rechecks do not include the round trip; the readiness probe tests the path from the node', async () => {
    await using sandbox = await Sandbox.make({ families: 'ipv4' });
    const running = await startWatched(sandbox, wayPod);
    const dial = {
      host: podAddress.ipv4,
      port: ports.readiness,
      from: nodeAddress.ipv4,
      only: 'connect',
    } as const;
    const probed = async (): Promise<unknown> => (await dialFrom('node', sandbox, [dial]))[0];
    assert.equal(await probed(), 'connected');
    await dropEverything(sandbox);
    assert.equal(await probed(), 'silence');
    await staysOpen(running, 5000);
    await inNode('delete table netdev dropping')(sandbox);
    assert.equal(await probed(), 'connected');
    assert.doesNotMatch(running.log(), /^recheck failed/m);
  });

  test('a port that is taken: no verdict on the network', async () => {
    await using sandbox = await Sandbox.make({ families: 'ipv4' });
    await listenInPod(ports.readiness)(sandbox);
    const { code, log } = await startProof(sandbox, wayPod, { configuration, continuous: everySecond }).ended;
    assert.equal(code, 69, log);
    assert.match(log, /^verdict: not-possible .*the readiness probe: port 14041 taken by another program/m);
  });

  for (const when of ['at rest', 'during a recheck'] as const)
    test(`a signal ${when} ends the program immediately, without a verdict`, async () => {
      await using sandbox = await Sandbox.make({ families: 'ipv4', gateway: 'by-link-route' });
      const running = await startWatched(sandbox, wayPod, { ...everySecond, interval: '5s' });
      const before = { log: running.log(), message: running.termination() };
      // makes the recheck fail, so that it takes longer: its check is retried for a fifth of the interval
      if (when === 'during a recheck') await exchangeAddress(sandbox);
      await until(running, () => isRechecking(running) === (when !== 'at rest'), when);
      const start = performance.now();
      running.signal('SIGTERM');
      const { code, log, termination } = await running.ended;
      const took = performance.now() - start;
      assert.deepEqual([code, log, termination], [0, before.log, before.message]);
      assert.ok(took < 200, `${took} ms`);
    });
});
