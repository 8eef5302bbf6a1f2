/**
 * What the server costs beside a bare `node:https` that parses the body and answers as many bytes, and beside one that
 * does not parse it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { connections, type Figures, load, median, type Target, type Usage } from './load.ts';
import type { Row } from './report/figures.ts';

const rounds = 9;
const seconds = 1;
const warmUp = 4;

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

/** What the servers answer for each second of processor time. @param body of each request */
export async function servers(body: string): Promise<Row[]> {
  const unparsed = await start('unparsed');
  const bare = await start('bare');
  const ours = await start('cni-gate');
  console.log(
    `${connections} keep-alive connections, ${seconds} s a round, reviews of ${body.length} bytes, rates for each second of processor time`,
  );
  try {
    // V8 compiles what runs often, which takes processor time of its own
    for (const server of [unparsed, bare, ours]) await load(server, body, warmUp);
    const all: Round[] = [];
    for (let round = 1; round <= rounds; round++) {
      const least = await load(unparsed, body, seconds);
      const base = await load(bare, body, seconds);
      const gate = await load(ours, body, seconds);
      all.push({ least, base, gate });
      console.log(
        `round ${round}: bare https ${textOf(base)}   without parsing ${textOf(least)}   cni-gate ${textOf(gate)}   rate ${(gate.rate / base.rate).toFixed(2)}`,
      );
    }
    return rowsOf(all, body.length);
  } finally {
    for (const { child, agent } of [unparsed, bare, ours]) {
      agent.destroy();
      child.disconnect();
    }
  }
}

/** By server: `base` is the bare one, `least` the one that does not parse. */
interface Round {
  least: Figures;
  base: Figures;
  gate: Figures;
}

const names = {
  least: 'bare node:https that does not parse',
  base: 'bare node:https',
  gate: 'cni-gate',
} as const;

function rowsOf(all: readonly Round[], bytes: number): Row[] {
  const conditions = `${bytes} bytes, ${connections} connections`;
  const servers = Object.entries(names) as [keyof Round, string][];
  const ratio = (to: keyof Round): number => median(all.map((round) => round.gate.rate / round[to].rate));
  const figure = 'cni-gate: admissions per second of processor time';
  return [
    {
      figure,
      conditions,
      measured: ratio('base'),
      unit: `× ${names.base}`,
      aim: { atLeast: 0.75 },
    },
    { figure, conditions, measured: ratio('least'), unit: `× ${names.least}` },
    ...servers.map(([which, name]) => ({
      figure: `${name}: admissions`,
      conditions,
      measured: median(all.map((round) => round[which].rate)),
      unit: 'per second of processor time',
    })),
    ...servers.map(([which, name]) => ({
      figure: `${name}: most resident memory`,
      conditions,
      measured: all.at(-1)?.[which].peak ?? Number.NaN,
      unit: 'MiB',
    })),
  ];
}

const textOf = ({ rate, p99, peak }: Figures): string =>
  `${rate.toFixed(0)}/s p99 ${p99.toFixed(1)} ms peak ${peak.toFixed(0)} MiB`;
