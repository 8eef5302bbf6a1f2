/** The observer's process: observes a server until the parent sends `stop`. See observer.ts. */
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { exchange } from '../../support/exchange.ts';
import { memoryOf } from './control-group.ts';
import type { Observed, Target } from './observer.ts';

const KiB = 1024;
/** Milliseconds between two samples. */
const interval = 250;
/** How many of the latest samples a scrape can cover, because metrics are up to a second old. */
const recentSamples = 7;
const seen: Observed = {
  ...{ peak: 0, blocked: 0, starved: 0, alive: true, killed: 0, samples: 0, memory: [] },
};
/** The longest delay of the event loop since the server's start: the metric, its first value, and its latest value. */
const ofLife = { metric: 'cni_gate_event_loop_delay_max_seconds', before: 0, now: 0 };
/**
 * For each sample, in milliseconds: the total time for which the server's main thread has waited for a processor, and
 * the total steal time of each processor (taken by the hypervisor), which the thread's time does not include.
 */
const waits: { thread: number; stolen: number[] }[] = [];
/** When the server last answered a scrape. */
let answered = performance.now();
let target: Target | undefined;
let timer: NodeJS.Timeout;

process.on('message', (message: 'stop' | Target) => void hear(message));

async function hear(message: 'stop' | Target): Promise<void> {
  if (message !== 'stop') {
    target = message;
    sampleMemory(target);
    // delays before this attack, such as those of the server's start, do not count
    await sampleMetrics(target);
    ofLife.before = ofLife.now;
    seen.blocked = 0;
    seen.starved = 0;
    let scraping = false;
    timer = setInterval(async () => {
      sampleMemory(message);
      // a slow server gets only one scrape at a time
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
    // waits until the server has collected its metrics again, so that they cover the last second
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const before = answered;
    await sampleMetrics(target);
    // if the server does not even answer this scrape, the time without an answer counts as blocked
    if (answered === before) seen.blocked = Math.max(seen.blocked, performance.now() - answered);
  }
  process.send?.(seen, () => process.disconnect());
}

function sampleMemory({ pid, group }: Target): void {
  seen.samples++;
  waits.push({ thread: waitedOf(pid), stolen: stolen() });
  // if the test has failed, the server's control group is gone
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

/** Resident memory of a process now and at its peak, in bytes; zeros if the process is gone. */
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

/** How long a process's main thread was ready to run but had no processor, in milliseconds. */
function waitedOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** Scrapes the metrics. A failed scrape is ignored: the next successful one reports the longest delay too. */
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

/** The longest wait for a processor between two consecutive samples, among those that a scrape can cover. */
function longestWait(): number {
  const recent = waits.slice(-recentSamples);
  const between = recent.slice(1).map((now, index) => {
    const before = recent[index] ?? now;
    const taken = now.stolen.map((time, processor) => time - (before.stolen[processor] ?? time));
    return now.thread - before.thread + Math.max(...taken);
  });
  return Math.max(0, ...between);
}

/** The total steal time of each processor, in milliseconds: the column `steal` (proc_stat(5)). */
const stolen = (): number[] =>
  [...readFileSync('/proc/stat', 'utf8').matchAll(/^cpu\d+ (.*)$/gm)].map(
    ([, columns = '']) => Number(columns.split(' ')[7]) * 10,
  );

async function get(url: string): Promise<string> {
  const call = request(url, { agent: false, timeout: 10_000 });
  call.on('timeout', () => call.destroy(new Error('no answer')));
  return (await exchange(call, '')).body;
}
