import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { hierarchyOf } from '../support/cgroups.ts';
import { type Families, podAddress } from './harness/addresses.ts';
import { inside } from './harness/namespaces.ts';
import type { PodSpecimen } from './harness/pods.ts';
import type { RunningProof } from './harness/proof.ts';
import { everySecond, isRechecking, ports, startWatched, staysOpen, until } from './harness/rechecks.ts';
import { Sandbox } from './harness/sandbox.ts';
import { linkerd } from './rules/linkerd.ts';
import { linkerdPod } from './table/inbound.ts';
import { flush, listenInPod, write } from './table/steps.ts';

/**
 * Disturbances that do not count as a loss: the readiness port stays open, and the kubelet's probes are answered.
 */

const ofLinkerd = write(linkerd({ skippedInbound: '14041' }));
const pod: PodSpecimen = { ...linkerdPod, profile: 'linkerd.way.seen' };
const prober = fileURLToPath(new URL('./harness/prober.ts', import.meta.url));

interface Probing {
  port: number;
  host?: string;
  /** Milliseconds between two connections. */
  every: number;
  count?: number;
  keep?: boolean;
}

interface Probed {
  /** The number of connections with each result. */
  results: Record<string, number>;
  /** The longest run of attempts without a connection. */
  mostInRow: number;
}

/** Starts the prober. */
function probe(sandbox: Sandbox, where: 'pod' | 'node', probing: Probing) {
  const argument = JSON.stringify({ host: podAddress.ipv4, ...probing });
  const [command, args] = inside(sandbox[where], process.execPath, prober, argument);
  const child = spawn('sh', ['-c', 'ulimit -n 20000; exec "$@"', 'sh', command, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  sandbox.onRemoval(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const probed = once(child.stdout, 'data').then(([text]): Probed => JSON.parse(String(text)));
  return { probed, end: () => child.stdin.end() };
}

const rules = (sandbox: Sandbox, where: 'pod' | 'node', text: string): Promise<string> =>
  sandbox.exec(where, 'nft', ['-f', '-'], `${text}\n`);

/** The processes in the pod's network namespace that stand in for the proxy. */
async function proxyOf(sandbox: Sandbox): Promise<number[]> {
  const all = await sandbox.exec('node', 'ip', ['netns', 'pids', sandbox.pod]);
  const pids = all.split('\n').filter(Boolean).map(Number);
  return pids.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('listener.ts'));
}

/** Rules that drop the first packet of each IP protocol, once per `time`, which is longer than a recheck. */
const dropFirst = (hook: string, only: string, time: string): string => `table inet first_${hook} {
  set seen { type inet_proto; flags dynamic, timeout; timeout ${time}; }
  counter lost { }
  chain c {
    type filter hook ${hook} priority -500
    ${only} meta l4proto @seen accept
    ${only} add @seen { meta l4proto } counter name lost drop
  }
}`;

/** Milliseconds: longer than one interval of 2 s, and shorter than two, even if the commands around it take 1 s. */
const outage = 2200;

interface Disturbance {
  what: string;
  /** The time between two rechecks, in seconds; usually 1. */
  interval?: number;
  /** The address families of the pod; usually, IPv4 only. */
  families?: Families;
  /** What the proxy does with a connection; usually, it only accepts it. */
  proxy?: 'close';
  disturb(sandbox: Sandbox, running: RunningProof): Promise<unknown>;
}

/** The bytes that a process has read from files: proc_pid_io(5). */
const bytesRead = (running: RunningProof): number =>
  Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${running.pid()}/io`, 'utf8'))?.[1]);

const disturbances: Disturbance[] = [
  {
    what: 'the first packet of each kind is lost in each recheck',
    interval: 8,
    disturb: async (sandbox, running) => {
      // drops datagrams to the node, the node's answers, and packets to the proxy, but no packet of the kubelet
      await rules(sandbox, 'node', dropFirst('prerouting', 'iifname pod0 meta l4proto udp', '3s'));
      await rules(sandbox, 'pod', dropFirst('input', 'th dport != 14041', '3s'));
      await staysOpen(running, 29_000);
      for (const [where, hook] of [
        ['node', 'prerouting'],
        ['pod', 'input'],
      ] as const) {
        const counter = await sandbox.exec(where, 'nft', [
          'list',
          'counter',
          'inet',
          `first_${hook}`,
          'lost',
        ]);
        assert.ok(Number(/packets (\d+)/.exec(counter)?.[1]) >= 3, counter);
      }
      assert.doesNotMatch(running.log(), /^recheck failed/m);
    },
  },
  {
    what: 'the rules are gone for less than two intervals, three times',
    interval: 2,
    disturb: async (sandbox, running) => {
      for (let count = 0; count < 3; count++) {
        await flush(sandbox);
        await staysOpen(running, outage);
        await ofLinkerd(sandbox);
        await staysOpen(running, 2500);
      }
    },
  },
  {
    what: 'the program is suspended, at rest and in the middle of a recheck',
    disturb: async (sandbox, running) => {
      for (const isAtRest of [true, false]) {
        if (!isAtRest) {
          await flush(sandbox);
          await until(running, () => isRechecking(running), 'a recheck');
        }
        running.signal('SIGSTOP');
        await ofLinkerd(sandbox);
        await sleep(4000);
        running.signal('SIGCONT');
        await staysOpen(running, 2500);
      }
    },
  },
  {
    what: 'the program starves: 20m of CPU',
    disturb: async (sandbox, running) => {
      const { path, version } = hierarchyOf('cpu');
      const group = join(path, `cni-gate-false-alarm-${process.pid}`);
      mkdirSync(group);
      sandbox.onRemoval(() => {
        writeFileSync(join(path, 'cgroup.procs'), String(running.pid()));
        rmdirSync(group);
      });
      if (version === 2) writeFileSync(join(group, 'cpu.max'), '2000 100000');
      else writeFileSync(join(group, 'cpu.cfs_quota_us'), '2000');
      writeFileSync(join(group, 'cgroup.procs'), String(running.pid()));
      await staysOpen(running, 12_000);
    },
  },
  {
    what: 'no new connection or datagram for less than two intervals, as with a full conntrack table',
    interval: 2,
    disturb: async (sandbox, running) => {
      const full = 'chain c { type filter hook output priority -150; ct state new drop; }';
      await rules(sandbox, 'pod', `table inet full { ${full}; }`);
      await staysOpen(running, outage);
      await rules(sandbox, 'pod', 'delete table inet full');
      await staysOpen(running, 2500);
    },
  },
  {
    what: 'the proxy stops, and does not listen',
    disturb: async (sandbox, running) => {
      for (const pid of await proxyOf(sandbox)) process.kill(pid, 'SIGKILL');
      await staysOpen(running, 6000);
    },
  },
  {
    what: 'the proxy accepts no connections, and its queue is full',
    disturb: async (sandbox, running) => {
      const stopped = await proxyOf(sandbox);
      for (const pid of stopped) process.kill(pid, 'SIGSTOP');
      probe(sandbox, 'pod', { host: '192.0.2.9', port: 80, every: 0.2, count: 6000, keep: true });
      await staysOpen(running, 9000);
      for (const pid of stopped) process.kill(pid, 'SIGCONT');
    },
  },
  {
    what: '10,000 connections through the mesh, whose table no recheck reads',
    families: 'dual',
    disturb: async (sandbox, running) => {
      const mesh = { host: '192.0.2.9', port: 80, every: 0.25, count: 10_000, keep: true };
      const { probed } = probe(sandbox, 'pod', mesh);
      const [{ results }] = await Promise.all([probed, staysOpen(running, 6000)]);
      assert.ok((results.open ?? 0) > 9000, JSON.stringify(results));
      const before = bytesRead(running);
      await staysOpen(running, 3500);
      // the kernel's table of sockets has 3 MB: a recheck that reads it exceeds this limit
      assert.ok(bytesRead(running) - before < 100_000, `${bytesRead(running) - before} bytes`);
    },
  },
  {
    what: 'each port from which the kernel connects has had a connection through the mesh',
    proxy: 'close',
    disturb: async (sandbox, running) => {
      await sandbox.exec('pod', 'sh', ['-c', 'echo 40000 40099 >/proc/sys/net/ipv4/ip_local_port_range']);
      probe(sandbox, 'pod', { host: '192.0.2.9', port: 80, every: 2 });
      await staysOpen(running, 15_000);
      assert.doesNotMatch(running.log(), /^recheck failed/m);
    },
  },
  {
    what: '10,000 connections to the readiness port',
    interval: 5,
    disturb: async (sandbox, running) => {
      const { probed } = probe(sandbox, 'node', { port: ports.readiness, every: 0.25, count: 10_000 });
      const [{ results }] = await Promise.all([probed, staysOpen(running, 6000)]);
      // a recheck accepts nothing while it reads the kernel's table of sockets, which is long by now, so the queue of
      // the listener (`somaxconn`) may overflow on a busy machine
      const { open = 0, silence = 0 } = results;
      assert.ok(open + silence === 10_000 && open > 5000, JSON.stringify(results));
    },
  },
];

describe('no false alarm', { concurrency: 6 }, () => {
  for (const { what, interval = 1, families = 'ipv4', proxy, disturb } of disturbances) {
    test(what, async (t) => {
      await using sandbox = await Sandbox.make({ families });
      await ofLinkerd(sandbox);
      const running = await startWatched(sandbox, pod, { ...everySecond, interval: `${interval}s` });
      await listenInPod(4140, proxy)(sandbox);
      const kubelet = probe(sandbox, 'node', { port: ports.readiness, every: 1000 });
      await disturb(sandbox, running);
      await staysOpen(running, 2500);
      kubelet.end();
      const { results, mostInRow } = await kubelet.probed;
      // the probe's failureThreshold is 3
      assert.ok(mostInRow < 3, JSON.stringify(results));
      t.diagnostic(`probes of the kubelet: ${JSON.stringify(results)}`);
    });
  }
});
