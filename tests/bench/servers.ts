/** What the server costs beside a bare `node:https` that only parses and answers. */
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
  const folder = process.env.CNI_GATE_CPU_PROF;
  const given = (process.env.CNI_GATE_BENCH_NODE ?? '').split(' ').filter((one) => one !== '');
  const child = fork(new URL('./server-child.ts', import.meta.url), [kind], {
    stdio: 'inherit',
    execArgv: [
      ...(folder === undefined
        ? []
        : ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${kind}.cpuprofile`]),
      ...(kind === 'bare' ? [] : given),
    ],
  });
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

/** What both servers answer for each second of processor time. @param body of each request */
export async function servers(body: string): Promise<Row[]> {
  const bare = await start('bare');
  const ours = await start('cni-gate');
  console.log(
    `${connections} keep-alive connections, ${seconds} s a round, reviews of ${body.length} bytes, rates for each second of processor time`,
  );
  try {
    // V8 compiles what runs often, which takes processor time of its own
    await load(bare, body, warmUp);
    await load(ours, body, warmUp);
    const all: { base: Figures; gate: Figures }[] = [];
    for (let round = 1; round <= rounds; round++) {
      const base = await load(bare, body, seconds);
      const gate = await load(ours, body, seconds);
      all.push({ base, gate });
      console.log(
        `round ${round}: bare https ${textOf(base)}   cni-gate ${textOf(gate)}   rate ${(gate.rate / base.rate).toFixed(2)}`,
      );
    }
    return rowsOf(all, body.length);
  } finally {
    for (const { child, agent } of [bare, ours]) {
      agent.destroy();
      child.disconnect();
    }
  }
}

function rowsOf(rounds: { base: Figures; gate: Figures }[], bytes: number): Row[] {
  const figure = 'admissions per second of processor time';
  const conditions = `${bytes} bytes, ${connections} connections`;
  const unit = 'per second of processor time';
  const { base, gate } = rounds.at(-1) ?? {};
  return [
    {
      figure,
      conditions: `cni-gate, ${conditions}`,
      measured: median(rounds.map((round) => round.gate.rate / round.base.rate)),
      unit: '× bare node:https',
      aim: { atLeast: 0.75 },
    },
    ...(['base', 'gate'] as const).map((which) => ({
      figure: `admissions, ${which === 'base' ? 'bare node:https' : 'cni-gate'}`,
      conditions,
      measured: median(rounds.map((round) => round[which].rate)),
      unit,
    })),
    {
      figure: 'most resident memory, bare node:https',
      conditions,
      measured: base?.peak ?? Number.NaN,
      unit: 'MiB',
    },
    { figure: 'most resident memory, cni-gate', conditions, measured: gate?.peak ?? Number.NaN, unit: 'MiB' },
  ];
}

const textOf = ({ rate, p99, peak }: Figures): string =>
  `${rate.toFixed(0)}/s p99 ${p99.toFixed(1)} ms peak ${peak.toFixed(0)} MiB`;
