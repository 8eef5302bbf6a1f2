import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { planLimits } from '../../webhook/lib/limits.ts';
import { requiring } from '../support/affinity.ts';
import { pendingPod, podsOnNodes } from '../support/hostile-cluster.ts';
import { apiNode } from '../unit/core/networks/objects.ts';
import { underAttack } from './harness/attack.ts';
import { agentOn, agentsPath, nodesPath, refusedPod } from './harness/fake-cluster.ts';

/** The nodes of a large cluster. Cilium is ready on all but the first. */
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
  // the list of each node's pods has 18 MB
  [podsOnNodes]: Array(14).fill(pendingPod('elsewhere', 'large', { claimName: 'x'.repeat(1_300_000) })),
  [agentsPath]: [agentOn(broken, 'CrashLoopBackOff'), ...ready.map((name) => agentOn(name))],
};

/**
 * A node affinity for the broken node only. Every node matches all expressions but the last, so a comparison in order
 * has to go to the end. The keys differ between pods, so that no two pods have equal expressions. The keys are short,
 * because requirements of more than 16 KiB are not compared at all.
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

// pods just below the limit of terms cost the most; those above it are not compared with nodes
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
