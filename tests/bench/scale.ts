/**
 * `npm run bench scale`: what `cni-gate serve` needs in clusters of many nodes, with one or three DaemonSets on each.
 *
 *   --nodes 100,1000       sizes of the cluster
 *   --daemon-sets 1,3      DaemonSets on each node
 *   --load 0               seconds of full load on the server's first size: twenty connections, reviews of a pod
 *   --report PAGE          writes the page's section
 *
 * It starts the bundle as the image does. The cluster is an API server of our own: see `scale/api.ts`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { recorded } from '../support/reviews.ts';
import { connections, type Figures, load } from './load.ts';
import { type Aim, benchArguments, type Row, report } from './report.ts';
import { namespaceOf } from './scale/objects.ts';
import { type Server, startServer } from './scale/server.ts';

const { values } = parseArgs({
  args: benchArguments().rest,
  options: {
    nodes: { type: 'string', default: '5,100,1000,5000,15000' },
    'daemon-sets': { type: 'string', default: '1,3' },
    load: { type: 'string', default: '0' },
  },
});
const numbers = (text: string): number[] => text.split(',').map(Number);

/** Milliseconds until V8 has given back what it does not need. */
const settle = 5000;

/** Of resident memory in MiB, by nodes and DaemonSets on each. */
const memoryAims: Record<string, Aim> = {
  '5 × 1': { atMost: 90 },
  '5000 × 1': { atMost: 140 },
  '15000 × 3': { atMost: 300 },
};

async function measure(nodes: number, sets: number, loaded: number): Promise<Row[]> {
  const conditions = `${nodes.toLocaleString('en')} nodes × ${sets} ${sets === 1 ? 'DaemonSet' : 'DaemonSets'}`;
  const row = (figure: string, measured: number, unit: string, aim?: Aim): Row => ({
    figure,
    conditions,
    measured,
    unit,
    ...(aim && { aim }),
  });
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  const api = fork(new URL('./scale/api.ts', import.meta.url), [String(nodes), String(sets)], {
    stdio: 'inherit',
  });
  try {
    const [about] = await once(api, 'message');
    const server = await startServer(folder, about);
    try {
      await sleep(settle);
      const { memory } = server.vitals();
      const full = loaded > 0 ? await fullLoad(server, loaded) : undefined;
      return [
        row('resident memory', memory, 'MiB', memoryAims[`${nodes} × ${sets}`]),
        row('start to ready', server.ready, 's', nodes === 15_000 ? { atMost: 10 } : undefined),
        ...(full === undefined
          ? []
          : [
              row(`most resident memory, ${connections} connections at full load`, full.peak, 'MiB', {
                atMost: 150,
              }),
            ]),
      ];
    } finally {
      server.process.kill('SIGKILL');
      await once(server.process, 'exit');
    }
  } finally {
    api.disconnect();
    rmSync(folder, { recursive: true });
  }
}

/** Sends reviews of one pod to `/mutate` over all connections, each the next as soon as the last is answered. */
async function fullLoad({ port, vitals }: Server, seconds: number): Promise<Figures> {
  const review = recorded('pod-statefulset-db');
  const namespace = namespaceOf(0);
  review.request.namespace = namespace;
  review.request.object.metadata.namespace = namespace;
  // its certificate is made for the bench
  const agent = new Agent({ keepAlive: true, maxSockets: connections, rejectUnauthorized: false });
  try {
    return await load({ port, agent, usage: async () => vitals() }, JSON.stringify(review), seconds);
  } finally {
    agent.destroy();
  }
}

const rows: Row[] = [];
for (const sets of numbers(values['daemon-sets'])) {
  for (const nodes of numbers(values.nodes)) {
    rows.push(...(await measure(nodes, sets, rows.length === 0 ? Number(values.load) : 0)));
  }
}
report(
  'scale',
  rows.toSorted((one, other) => one.figure.localeCompare(other.figure)),
);
