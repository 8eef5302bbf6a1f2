/**
 * Part of `npm run bench`: what it costs to keep what 20,000 pods found out about their networks, and to decide about
 * those that failed.
 */

import { decide, type RepairFacts } from '../../webhook/leader/recreate/decide.ts';
import { RepairMemory } from '../../webhook/leader/recreate/memory.ts';
import { Evidence, type PodChange } from '../../webhook/nodes/evidence/evidence.ts';
import { type ApiEvidencePod, evidencePick } from '../../webhook/nodes/evidence/to-facts.ts';

const [pods, page, perNode, perOwner] = [20_000, 500, 40, 10];
const budgets = { perNodePerMinute: 60, perOwnerPerMinute: 60, perMinute: 120 };
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

/** Decides about all failed pods. @returns how many are recreated, and how long it took, in milliseconds */
function decideAll(evidence: Evidence, memory: RepairMemory): { made: number; took: number } {
  const start = performance.now();
  const facts: RepairFacts = {
    owners: [],
    node: (node, profile) => ({
      state: 'open',
      why: '',
      turn: true,
      passedAt: evidence.of(profile, node)?.lastPass?.at,
    }),
    elsewhere: () => true,
    ownedBy: (owner) => evidence.ownedBy(owner),
    failedOn: (node) => [...evidence.pods()].filter((pod) => pod.node === node && pod.verdict === 'failed'),
    limits: memory.limits(budgets, start),
  };
  let made = 0;
  for (const pod of evidence.pods()) {
    const decision = pod.verdict === 'failed' ? decide(pod, facts) : undefined;
    if (decision?.decision !== 'recreate') continue;
    made += 1;
    memory.begin(decision, budgets, start);
  }
  return { made, took: performance.now() - start };
}

function one(nth: number): void {
  const before = heap();
  const pick = evidencePick();
  const evidence = new Evidence();
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
  for (let warm = 0; warm < 3; warm += 1) decideAll(evidence, new RepairMemory());
  const { made, took: decided } = decideAll(evidence, new RepairMemory());
  console.log(
    `evidence of ${pods} pods, ${Math.ceil(pods / nth)} failed`.padEnd(41) +
      `taken in ${took.toFixed(0)} ms; heap ${(bytes / 2 ** 20).toFixed(1)} MiB, ${(bytes / pods).toFixed(0)} bytes a pod; ` +
      `decided about all in ${decided.toFixed(1)} ms, ${made} to recreate`,
  );
}

/** Prints the figures. */
export function repairBench(): void {
  for (const nth of [pods, 100, 1]) one(nth);
}
