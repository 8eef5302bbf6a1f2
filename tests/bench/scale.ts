/**
 * `npm run bench scale`: memory and start time of `cni-gate serve` in clusters of many nodes, with one or three
 * DaemonSets on each node. It starts the bundle as the image does. The API server is a fake one: see `scale/api.ts`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { recorded } from '../support/reviews.ts';
import { connections, type Figures, load } from './load.ts';
import { type Row, report } from './report.ts';
import { namespaceOf } from './scale/objects.ts';
import { type Server, startServer } from './scale/server.ts';

/** The number of nodes, the number of DaemonSets on each, and the aim for resident memory in MiB. */
const sizes = [
  [5, 1, 90],
  [5000, 1, 140],
  [15_000, 3, 300],
] as const;

/** The time, in milliseconds, within which V8 returns memory that it no longer needs. */
const settle = 5000;

/** Measures a server in a cluster of one size. @param loaded whether the server also gets full load after its start */
async function measure([nodes, sets, memory]: (typeof sizes)[number], loaded: boolean): Promise<Row[]> {
  const conditions = `${nodes.toLocaleString('en')} nodes × ${sets} ${sets === 1 ? 'DaemonSet' : 'DaemonSets'}`;
  const row = (figure: string, measured: number, unit: string, atMost?: number): Row => {
    return { figure, conditions, measured, unit, ...(atMost !== undefined && { aim: { atMost } }) };
  };
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  const api = fork(new URL('./scale/api.ts', import.meta.url), [String(nodes), String(sets)]);
  try {
    const [about] = await once(api, 'message');
    const server = await startServer(folder, about);
    try {
      await sleep(settle);
      const rows = [
        row('resident memory', server.vitals().memory, 'MiB', memory),
        row('start to ready', server.ready, 's', nodes === 15_000 ? 10 : undefined),
      ];
      if (!loaded) return rows;
      const { peak } = await fullLoad(server);
      const figure = `peak resident memory, ${connections} connections at full load`;
      return [...rows, row(figure, peak, 'MiB', 150)];
    } finally {
      server.process.kill('SIGKILL');
      await once(server.process, 'exit');
    }
  } finally {
    api.disconnect();
    rmSync(folder, { recursive: true });
  }
}

/** Sends reviews of one pod to `/mutate` for a minute, one after another on each connection. */
async function fullLoad({ port, vitals }: Server): Promise<Figures> {
  const review = recorded('pod-statefulset-db');
  const namespace = namespaceOf(0);
  review.request.namespace = namespace;
  review.request.object.metadata.namespace = namespace;
  // the bench itself issued the server's certificate, so the client does not verify it
  const agent = new Agent({ keepAlive: true, maxSockets: connections, rejectUnauthorized: false });
  try {
    return await load({ port, agent, usage: async () => vitals() }, JSON.stringify(review), 60);
  } finally {
    agent.destroy();
  }
}

const rows: Row[] = [];
for (const size of sizes) rows.push(...(await measure(size, rows.length === 0)));
report(
  'scale',
  rows.toSorted((one, other) => one.figure.localeCompare(other.figure)),
);
