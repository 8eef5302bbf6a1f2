/**
 * `npm run bench scale`: what `cni-gate serve` needs in clusters of many nodes, with one or three DaemonSets on each.
 *
 *   --nodes 100,1000       sizes of the cluster
 *   --daemon-sets 1,3      DaemonSets on each node
 *   --pods 110             pods of users that come to each node, by events of a watch
 *   --seconds 8            how long events and calls come steadily, and how long as fast as they are read
 *   --load 0               seconds of full load on the server's first size: twenty connections, reviews of a pod
 *   --report PAGE          writes the page's section and its plot
 *
 * It starts the bundle as the image does. The cluster is an API server of our own: see `scale/api.ts`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { benchArguments, report } from './report.ts';
import type { SendEvents, SentEvents } from './scale/api.ts';
import { callGate } from './scale/calls.ts';
import { fullLoad } from './scale/full-load.ts';
import { type Figures, rowsOf } from './scale/rows.ts';
import { nodeArguments, startServer } from './scale/server.ts';

const { values } = parseArgs({
  args: benchArguments().rest,
  options: {
    nodes: { type: 'string', default: '5,100,1000,5000,15000' },
    'daemon-sets': { type: 'string', default: '1,3' },
    pods: { type: 'string', default: '110' },
    seconds: { type: 'string', default: '8' },
    load: { type: 'string', default: '0' },
  },
});
const numbers = (text: string): number[] => text.split(',').map(Number);
const [seconds, podsOfNode] = [Number(values.seconds), Number(values.pods)];

/** Events and calls in a second while decisions are measured. */
const steady = { events: 500, calls: 100 };
/** Milliseconds until V8 has given back what it does not need. */
const settle = 5000;

async function measure(nodes: number, sets: number, loaded: number): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  const api = fork(new URL('./scale/api.ts', import.meta.url), [String(nodes), String(sets)], {
    stdio: 'inherit',
  });
  try {
    const [about] = await once(api, 'message');
    const server = await startServer(folder, about);
    try {
      const start = server.vitals();
      await sleep(settle);
      const synced = server.vitals();
      const load = loaded > 0 ? await fullLoad(server, loaded) : undefined;
      const pods = nodes * podsOfNode;
      const [first, took] =
        seconds === 0
          ? []
          : await Promise.all([
              events(api, { perSecond: steady.events, seconds, pods: [0, pods] }),
              callGate(server, { nodes, sets, perSecond: steady.calls, seconds }),
            ]);
      const fast = {
        perSecond: 'as fast as they are read' as const,
        seconds,
        pods: [first?.next ?? 0, pods] as [number, number],
      };
      const sent = seconds === 0 ? undefined : await events(api, fast);
      await sleep(seconds === 0 ? 0 : settle);
      const perSecond = sent === undefined ? Number.NaN : sent.events / sent.seconds;
      const full = server.vitals();
      return {
        nodes,
        sets,
        ready: server.ready,
        start,
        synced,
        took,
        perSecond,
        pods: sent?.next ?? 0,
        full,
        load,
      };
    } finally {
      server.process.kill('SIGKILL');
      await once(server.process, 'exit');
    }
  } finally {
    api.disconnect();
    rmSync(folder, { recursive: true });
  }
}

async function events(api: ChildProcess, order: SendEvents): Promise<SentEvents> {
  api.send(order);
  const [sent] = await once(api, 'message');
  return sent;
}

console.log(
  `Node ${process.version} ${nodeArguments.join(' ')}, ${cpus().length} cores (${cpus()[0]?.model}); ${steady.events} events and ${steady.calls} calls a second`,
);
const all: Figures[] = [];
for (const sets of numbers(values['daemon-sets'])) {
  for (const nodes of numbers(values.nodes)) {
    const figures = await measure(nodes, sets, all.length === 0 ? Number(values.load) : 0);
    all.push(figures);
    console.log(`${nodes} nodes × ${sets}: ready in ${figures.ready.toFixed(2)} s`);
  }
}
report('scale', rowsOf(all));
