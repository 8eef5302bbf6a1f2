/** Observes a server until it is stopped: see observer.ts. */
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { exchange } from '../../support/exchange.ts';
import { memoryOf } from './control-group.ts';
import type { Observed, Target } from './observer.ts';

const KiB = 1024;
/** Milliseconds between two samples. */
const interval = 250;
/** Metrics are up to a second old, and the sample before that counts as well. */
const recentSamples = 7;
const seen: Observed = {
  ...{ peak: 0, blocked: 0, starved: 0, alive: true, killed: 0, samples: 0, memory: [] },
};
/** The metric that tells of the server's whole life, what it was when this observer began, and what it is now. */
const ofLife = { metric: 'cni_gate_event_loop_delay_max_seconds', before: 0, now: 0 };
/** How long its main thread had waited for a processor since it is there, at each sample. */
const waits: number[] = [];
/** When it last answered a scrape. */
let answered = performance.now();
let target: Target | undefined;
let timer: NodeJS.Timeout;

process.on('message', (message: 'stop' | Target) => void hear(message));

async function hear(message: 'stop' | Target): Promise<void> {
  if (message !== 'stop') {
    target = message;
    sampleMemory(target);
    // what blocked the server while it started, or in an attack before, is not this attacker's doing
    await sampleMetrics(target);
    ofLife.before = ofLife.now;
    seen.blocked = 0;
    seen.starved = 0;
    let scraping = false;
    timer = setInterval(async () => {
      sampleMemory(message);
      // a server that answers slowly is not asked by many at once
      if (scraping) return;
      scraping = true;
      await sampleMetrics(message);
      scraping = false;
    }, interval);
    process.send?.('begun');
    return;
  }
  clearInterval(timer);
  if (target) {
    sampleMemory(target);
    // what was collected a moment ago would not tell of the last second
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const before = answered;
    await sampleMetrics(target);
    // who does not even answer now cannot tell for how long
    if (answered === before) seen.blocked = Math.max(seen.blocked, performance.now() - answered);
  }
  process.send?.(seen, () => process.disconnect());
}

function sampleMemory({ pid, group }: Target): void {
  seen.samples++;
  waits.push(waitedOf(pid));
  // a test that failed takes the group away
  if (!existsSync(group)) {
    clearInterval(timer);
    return;
  }
  const { used, killed } = memoryOf(group);
  seen.killed = killed;
  const [now, max] = residentOf(pid);
  seen.alive &&= now > 0;
  seen.memory.push(now);
  seen.peak = Math.max(seen.peak, used, max);
}

/** Bytes of a process in memory, and the most that there ever were; zeros where it is gone. */
function residentOf(pid: number): [now: number, most: number] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * KiB;
    return [field('VmRSS'), field('VmHWM')];
  } catch {
    return [0, 0];
  }
}

/** Milliseconds for which a process's main thread could run and got no processor. */
function waitedOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** A scrape that fails is no finding: the next one tells the longest time since the last that came through. */
async function sampleMetrics({ metrics }: Target): Promise<void> {
  const text = await get(metrics).catch(() => '');
  if (text !== '') answered = performance.now();
  for (const name of [ofLife.metric, 'nodejs_eventloop_lag_max_seconds']) {
    const value = Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
    if (name === ofLife.metric) {
      ofLife.now = Math.max(ofLife.now, value);
      if (value <= ofLife.before) continue;
    }
    if (value * 1000 <= seen.blocked) continue;
    seen.blocked = value * 1000;
    seen.starved = Math.min(seen.blocked, longestWait());
  }
}

/** The most that it waited for a processor between two samples, of those that a scrape tells about. */
function longestWait(): number {
  const recent = waits.slice(-recentSamples);
  return Math.max(0, ...recent.slice(1).map((waited, index) => waited - (recent[index] ?? waited)));
}

async function get(url: string): Promise<string> {
  const call = request(url, { agent: false, timeout: 10_000 });
  call.on('timeout', () => call.destroy(new Error('no answer')));
  return (await exchange(call, '')).body;
}
