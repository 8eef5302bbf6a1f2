/**
 * What the server costs beside a bare `node:https` that parses the body and answers as many bytes, and beside one that
 * does not parse it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { connections, type Target, type Usage } from './load.ts';
import type { Row } from './report/figures.ts';
import { inTurns, ratio, serverRows } from './turns.ts';

/** Of one server in one round. */
const seconds = 1;

interface Started extends Target {
  child: ChildProcess;
}

async function start(kind: string): Promise<Started> {
  const child = fork(new URL('./server-child.ts', import.meta.url), [kind], { stdio: 'inherit' });
  const { port, ca } = await new Promise<{ port: number; ca: string }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { port: number; ca: string }));
    child.once('exit', () => reject(new Error(`the ${kind} server ended`)));
  });
  return {
    child,
    port,
    agent: new Agent({ keepAlive: true, maxSockets: connections, ca, servername: 'localhost' }),
    usage: () => usageOf(child),
  };
}

async function usageOf(child: ChildProcess): Promise<Usage> {
  child.send('usage');
  const [usage] = await once(child, 'message');
  return usage as Usage;
}

const least = 'bare node:https that does not parse';
const bare = 'bare node:https';
const gate = 'cni-gate';

/** What the servers answer for each second of processor time. @param body of each request */
export async function servers(body: string): Promise<Row[]> {
  const started = new Map([
    [least, await start('unparsed')],
    [bare, await start('bare')],
    [gate, await start('cni-gate')],
  ]);
  const conditions = `${body.length} bytes, ${connections} connections`;
  const figure = 'cni-gate: admissions per second of processor time';
  try {
    const all = await inTurns(started, body, seconds);
    return [
      {
        figure,
        conditions,
        measured: ratio(all, gate, bare),
        unit: `× ${bare}`,
        aim: { atLeast: 0.75 },
      },
      { figure, conditions, measured: ratio(all, gate, least), unit: `× ${least}` },
      ...serverRows(all, conditions),
    ];
  } finally {
    for (const { child, agent } of started.values()) {
      agent.destroy();
      child.disconnect();
    }
  }
}
