import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { planLimits } from '../../webhook/lib/limits.ts';
import { requiring } from '../support/affinity.ts';
import { pendingPod, podsOnNodes } from '../support/hostile-cluster.ts';
import { apiNode } from '../unit/core/networks/objects.ts';
import { underAttack } from './harness/attack.ts';
import { agentOn, agentsPath, nodesPath, refusedPod } from './harness/fake-cluster.ts';

/** The nodes of a large cluster. Cilium is ready on every node except the first. */
const nodes = Array.from({ length: 1000 }, (_, index) => `n${index + 1}`);
const [broken = '', ...ready] = nodes;
const objects = {
  '/version': [{ major: '1', minor: '36' }],
  [nodesPath]: nodes.map((name) => {
    const node = apiNode(name, `boot-${name}`, 7);
    const labels = { 'kubernetes.io/hostname': name };
    const status = { ...node.status, allocatable: { cpu: '64', memory: '256Gi', pods: '110' } };
    return { ...node, metadata: { ...node.metadata, labels }, status };
  }),
  // each list of a single node's pods is 18 MB long
  [podsOnNodes]: Array(14).fill(pendingPod('elsewhere', 'large', { claimName: 'x'.repeat(1_300_000) })),
  [agentsPath]: [agentOn(broken, 'CrashLoopBackOff'), ...ready.map((name) => agentOn(name))],
};

/**
 * A node affinity that selects only the broken node. Every node matches all expressions except the last, so each
 * comparison evaluates all of them. The keys differ between pods, so that no two pods have equal expressions. The keys
 * are short, because cni-gate does not compare requirements of more than 16 KiB at all.
 */
const inExpressions = (count: number, pod: number): object =>
  requiring({
    matchExpressions: [
      ...Array.from({ length: count - 1 }, (_, index) => ({
        key: `p${pod}-e${index}`,
        operator: 'DoesNotExist',
      })),
      { key: 'kubernetes.io/hostname', operator: 'In', values: [broken] },
    ],
  });

// pods just below the limit for terms cost most; cni-gate does not compare pods above the limit with nodes
for (const terms of [planLimits.terms - 5, 280]) {
  test(`400 pods that wait with ${terms} expressions each, on 1,000 nodes: another pod is still steered`, async (t) => {
    const isSteered = (path: string): boolean => path === '/api/v1/namespaces/shop/pods/bystander/status';
    await underAttack(
      t,
      async ({ cluster, signal }) => {
        for (let index = 0; index < 400; index += 1) {
          const pod = refusedPod('nets', `waiting-${index}`, { affinity: inExpressions(terms, index) });
          await cluster.send('/api/v1/pods', 'ADDED', pod);
        }
        await cluster.send('/api/v1/pods', 'ADDED', refusedPod('shop', 'bystander'));
        while (!signal.aborted) await sleep(100);
        assert.ok(cluster.asked.some(({ method, path }) => method === 'PATCH' && isSteered(path)));
      },
      { objects, over: 15_000 },
    );
  });
}
