/** What the server costs beside a bare `node:https` that only parses and answers. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { connections, type Figures, load, median, type Target, type Usage } from './load.ts';

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

/** Prints what both servers answer for each second of processor time. @param body of each request */
export async function servers(body: string): Promise<void> {
  const bare = await start('bare');
  const ours = await start('cni-gate');
  console.log(
    `${connections} keep-alive connections, ${seconds} s a round, reviews of ${body.length} bytes, rates for each second of processor time`,
  );
  try {
    // V8 compiles what runs often, which takes processor time of its own
    await load(bare, body, warmUp);
    await load(ours, body, warmUp);
    const ratios: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      const base = await load(bare, body, seconds);
      const gate = await load(ours, body, seconds);
      ratios.push(gate.rate / base.rate);
      console.log(
        `round ${round}: bare https ${textOf(base)}   cni-gate ${textOf(gate)}   rate ${(gate.rate / base.rate).toFixed(2)}`,
      );
    }
    console.log(`median rate ${median(ratios).toFixed(2)}`);
  } finally {
    for (const { child, agent } of [bare, ours]) {
      agent.destroy();
      child.disconnect();
    }
  }
}

const textOf = ({ rate, p99, peak }: Figures): string =>
  `${rate.toFixed(0)}/s p99 ${p99.toFixed(1)} ms peak ${peak.toFixed(0)} MiB`;
