/** Compares cni-gate with a bare `node:https` server that parses the body and answers with the same number of bytes. */
import { type ChildProcess, fork } from 'node:child_process';
import { Agent } from 'node:https';
import { connections, type Figures, load, median, type Target, usageOf } from './load.ts';
import type { Row } from './report.ts';

/** Seconds of load per server and round, seconds of warm-up, in which V8 compiles hot code, and number of rounds. */
const [seconds, warmUp, rounds] = [1, 4, 9];

type Rounds = ReadonlyMap<string, Figures[]>;

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
    usage: async () => usageOf(child.pid),
  };
}

/** Loads the servers in turn: in each round, each server for `seconds`. */
async function inTurns(started: ReadonlyMap<string, Target>, body: string): Promise<Rounds> {
  const all = new Map([...started.keys()].map((name): [string, Figures[]] => [name, []]));
  for (const server of started.values()) await load(server, body, warmUp);
  for (let round = 1; round <= rounds; round++) {
    const line: string[] = [];
    for (const [name, server] of started) {
      const one = await load(server, body, seconds);
      all.get(name)?.push(one);
      const { rate, p99, peak } = one;
      line.push(`${name} ${rate.toFixed(0)}/s p99 ${p99.toFixed(1)} ms peak ${peak.toFixed(0)} MiB`);
    }
    console.log(`round ${round}: ${line.join('   ')}`);
  }
  return all;
}

const rates = (all: Rounds, name: string): number[] => all.get(name)?.map(({ rate }) => rate) ?? [];

/** The ratio between the rates of two servers. The result is the median over the rounds. */
const ratio = (all: Rounds, name: string, other: string): number =>
  median(rates(all, name).map((rate, round) => rate / (rates(all, other)[round] ?? Number.NaN)));

const bare = 'bare node:https';
const gate = 'cni-gate';

/** Compares how many requests the servers answer per second of processor time. @param body of each request */
export async function servers(body: string): Promise<Row[]> {
  const started = new Map([
    [bare, await start('bare')],
    [gate, await start('cni-gate')],
  ]);
  const conditions = `reviews of ${body.length} bytes on ${connections} connections`;
  const figure = 'admissions per second of CPU time';
  try {
    const all = await inTurns(started, body);
    return [
      { figure, conditions, measured: ratio(all, gate, bare), unit: `× ${bare}`, aim: { atLeast: 0.75 } },
    ];
  } finally {
    for (const { child, agent } of started.values()) {
      agent.destroy();
      child.disconnect();
    }
  }
}
