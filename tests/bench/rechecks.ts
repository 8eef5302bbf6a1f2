/** The part of `npm run bench validator` about rechecks: their CPU time and memory, and the memory between rechecks. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PodSpecimen, specimens } from '../netns/harness/pods.ts';
import type { RunningProof } from '../netns/harness/proof.ts';
import { isRechecking, processorTime, startWatched } from '../netns/harness/rechecks.ts';
import { Sandbox } from '../netns/harness/sandbox.ts';
import { writeRules } from '../netns/rules/backends.ts';
import { linkerd } from '../netns/rules/linkerd.ts';
import { listenInPod } from '../netns/table/steps.ts';
import type { Row } from './report.ts';

const allChecks = '`address`, `gateway`, `redirect`';
const pods: Record<string, PodSpecimen> = {
  '`redirect`': { ...specimens.linkerd, profile: 'linkerd.seen' },
  '`address`, `gateway`': { profile: 'way.seen' },
  [allChecks]: { ...specimens.linkerd, profile: 'way.linkerd.seen' },
};

/** A figure of a process in MB: proc_pid_status(5), proc_pid_smaps_rollup(5). */
export function megabytes(running: Pick<RunningProof, 'pid'>, file: string, name: string): number {
  const text = readFileSync(`/proc/${running.pid()}/${file}`, 'utf8');
  return (Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) * 1024) / 1e6;
}

/** The peak of resident memory in MB, over all rechecks within five seconds. */
async function peakOf(running: RunningProof): Promise<number> {
  let peak = 0;
  for (const end = performance.now() + 5000; performance.now() < end; await sleep(1))
    if (isRechecking(running)) peak = Math.max(peak, megabytes(running, 'status', 'VmHWM'));
  return peak;
}

/** Measures rechecks that run once a second. @param seconds how long to measure each pod */
export async function rechecks(seconds: number): Promise<Row[]> {
  const rows: Row[] = [];
  const row = (figure: string, conditions: string, measured: number, unit: string, atMost: number): void =>
    void rows.push({ figure, conditions, measured, unit, aim: { atMost } });
  for (const [conditions, pod] of Object.entries(pods)) {
    await using sandbox = await Sandbox.make({ families: 'ipv4' });
    if (pod.profile.includes('linkerd')) await writeRules(sandbox, linkerd({ skippedInbound: '14041' }));
    const running = await startWatched(sandbox, pod);
    await listenInPod(4140)(sandbox);
    await sleep(3000);
    const before = processorTime(running);
    await sleep(seconds * 1000);
    const each = (processorTime(running) - before) / seconds;
    row('CPU time of a recheck', conditions, each, 'ms', 5);
    if (conditions !== allChecks) continue;
    row('rechecks of 110 pods every 60 s', conditions, ((each * 110) / 60_000) * 100, '% of a core', 0.2);
    row('peak resident memory of a recheck', conditions, await peakOf(running), 'MB', 3);
    while (isRechecking(running)) await sleep(5);
    const own = megabytes(running, 'smaps_rollup', 'Anonymous');
    row('private memory between rechecks', conditions, own, 'MB', 1);
  }
  return rows;
}
