/**
 * Part of `npm run bench`: what it costs to keep what 20,000 pods found out about their networks, and to plan their
 * recreation.
 */
import { Evidence, type PodChange } from '../../webhook/evidence/evidence.ts';
import { type ApiEvidencePod, evidencePick } from '../../webhook/evidence/to-facts.ts';
import { FailedPods } from '../../webhook/repair/failed-pods.ts';
import { RepairHistory } from '../../webhook/repair/history.ts';
import { planningRepair } from '../../webhook/repair/plan.ts';
import type { RepairSnapshot } from '../../webhook/repair/types.ts';
import { Work } from '../../webhook/steer/work.ts';

const [pods, page, perNode, perOwner] = [20_000, 500, 40, 10];
const begin = Date.UTC(2026, 10, 22, 12);

/** A pod as the API gives it, of which each `nth` failed its proof. */
function apiPod(index: number, nth: number): ApiEvidencePod {
  const failed = index % nth === 0;
  const time = new Date(begin + (index % 3600) * 1000).toISOString();
  const owner = Math.floor(index / perOwner);
  const ended = { exitCode: failed ? 95 : 0, startedAt: time, finishedAt: time };
  const profiles = ['cilium', 'linkerd'];
  return JSON.parse(
    JSON.stringify({
      metadata: {
        uid: `0000-1111-2222-3333-${index}`,
        resourceVersion: `${1_000_000 + index}`,
        namespace: `team-${owner % 50}`,
        name: `web-${owner}-7d9f8b6c5-${index}`,
        creationTimestamp: time,
        labels: { 'cni-gate.io/profile': profiles.join('.') },
        annotations: { 'cni-gate.io/status': JSON.stringify({ version: '1', profiles, checks: [] }) },
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'ReplicaSet',
            name: `web-${owner}`,
            uid: `o-${owner}`,
            controller: true,
          },
        ],
      },
      spec: { nodeName: `n${index % (pods / perNode)}`, initContainers: [{ name: 'cni-gate-validator' }] },
      status: {
        podIPs: [{ ip: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}` }],
        conditions: [{ type: 'PodReadyToStartContainers', status: 'True', lastTransitionTime: time }],
        initContainerStatuses: [
          failed
            ? { name: 'cni-gate-validator', state: { waiting: {} }, lastState: { terminated: ended } }
            : { name: 'cni-gate-validator', state: { terminated: ended } },
        ],
      },
    }),
  );
}

/** The heap in use, in bytes; without `--expose-gc` with what was not collected yet. */
function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** A plan, and its longest slice: milliseconds. */
function plan(
  known: RepairSnapshot,
  history: RepairHistory,
): { made: number; took: number; longest: number } {
  let steps = 0;
  const isDue = (more: number): boolean => {
    steps += more;
    if (steps < 1000) return false;
    steps = 0;
    return true;
  };
  const start = performance.now();
  const planning = planningRepair(known, history, start, 50, new Work(isDue));
  let longest = 0;
  for (;;) {
    const began = performance.now();
    const { done, value } = planning.next();
    longest = Math.max(longest, performance.now() - began);
    if (done === true) return { made: value.recreations.length, took: performance.now() - start, longest };
  }
}

function one(nth: number): void {
  const before = heap();
  const pick = evidencePick();
  const evidence = new Evidence();
  const failed = new FailedPods();
  evidence.subscribe((changes) => failed.apply(changes));
  let took = 0;
  for (let from = 0; from < pods; from += page) {
    const api = Array.from({ length: page }, (_, index) => apiPod(from + index, nth));
    const start = performance.now();
    evidence.apply(
      api.map((pod): PodChange => ({ type: 'put', pod: pick(pod), listed: true })),
      begin,
    );
    took += performance.now() - start;
  }
  const bytes = heap() - before;
  const known: RepairSnapshot = {
    failed,
    node: (node, profile) => ({
      state: 'open',
      why: '',
      turn: true,
      passedAt: evidence.of(profile, node)?.lastPass?.at,
    }),
    elsewhere: () => true,
    budgets: { perNodePerMinute: 60, perOwnerPerMinute: 60, perMinute: 120, owners: [] },
  };
  const history = new RepairHistory();
  for (let warm = 0; warm < 3; warm += 1) plan(known, history);
  const planned = plan(known, history);
  console.log(
    `evidence of ${pods} pods, ${failed.size} failed`.padEnd(41) +
      `taken in ${took.toFixed(0)} ms; heap ${(bytes / 2 ** 20).toFixed(1)} MiB, ${(bytes / pods).toFixed(0)} bytes a pod; ` +
      `plan of ${planned.made} in ${planned.took.toFixed(1)} ms, longest slice ${planned.longest.toFixed(1)} ms`,
  );
}

/** Prints the figures. */
export function repairBench(): void {
  for (const nth of [pods, 100, 1]) one(nth);
}
