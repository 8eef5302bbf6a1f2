import assert from 'node:assert/strict';
import { toGatePod } from '../../../webhook/admission/gate/gate-pod.ts';
import { decodePlacement } from '../../../webhook/admission/gate/placement.ts';
import { refusedFor } from '../../../webhook/admission/gate/refusal.ts';
import { requiredProfiles } from '../../../webhook/admission/mutate/status-annotation.ts';
import type { Gate } from '../../../webhook/leader/nominate/accepts.ts';
import { filterNode } from '../../../webhook/leader/nominate/filters.ts';
import { profileLabel, statusAnnotation } from '../../../webhook/lib/names.ts';
import { Readiness } from '../../../webhook/nodes/readiness/readiness.ts';
import { toAgentFacts, toNodeFacts } from '../../../webhook/nodes/readiness/to-facts.ts';
import { growsLinearly, many, map, on, onText } from '../../support/hostile-work.ts';
import { binding, clusterWith } from '../admission/gate/support.ts';
import { node, waiting } from '../leader/nominate/support.ts';
import { apiAgent, apiNode, now } from '../nodes/readiness/objects.ts';
import { condition, containers, denied, metadata, ours, taint, toleration } from './inputs.ts';

const openGate: Gate = () => ({ blocker: undefined, onePod: false });

growsLinearly('what the gate reads', [
  ['refusedFor: codes', onText(refusedFor, ' (CNI_GATE_NODE_NOT_READY ', denied, ')')],
  [
    'pickPending',
    onText((text) => toGatePod({ metadata, status: condition(text) }), denied, '', 'CNI_GATE_NODE_NOT_READY'),
  ],
  [
    'requiredProfiles: a label',
    onText(
      (text) =>
        requiredProfiles({
          metadata: { labels: { [profileLabel]: text } },
          spec: { initContainers: [ours] },
        }),
      'a.',
    ),
  ],
  [
    'requiredProfiles: a status',
    on(
      (size) => JSON.stringify({ profiles: many(size, (index) => `p${index}`) }),
      (text) => requiredProfiles({ metadata: { annotations: { [statusAnnotation]: text } } }),
    ),
  ],
  [
    'requiredProfiles: checks',
    on(
      (size) => [
        {
          ...ours,
          env: [
            {
              name: 'CNI_GATE_CHECKS',
              value: JSON.stringify(many(size, (index) => ({ profile: `p${index}` }))),
            },
          ],
        },
      ],
      (initContainers) => requiredProfiles({ metadata: {}, spec: { initContainers } }),
    ),
  ],
  [
    'decodePlacement: a pod',
    on(
      (size) =>
        binding('', {
          kind: { group: '', version: 'v1', kind: 'Pod' },
          object: {
            metadata: { name: 'a', labels: { [profileLabel]: 'a.'.repeat(size) } },
            spec: { nodeName: 'n1', containers, initContainers: many(size, () => ours) },
          },
        }),
      decodePlacement,
    ),
  ],
  ['decodePlacement: a node', onText((text) => assert.throws(() => decodePlacement(binding(text))), 'a-')],
  [
    'toAgentFacts: a reason',
    onText((text) => toAgentFacts(apiAgent('n1', { ready: false, waiting: text })), '\u001b]'),
  ],
  [
    'toAgentFacts: containers',
    on(
      (size) =>
        apiAgent('n1', { ready: false, waiting: 'x', containers: many(size, (index) => `c${index}`) }),
      toAgentFacts,
    ),
  ],
  [
    'toNodeFacts',
    on(
      (size) =>
        apiNode('n1', 'b1', 1, {
          spec: { taints: many(size, taint) },
          status: { allocatable: map(size, () => '1') },
        }),
      toNodeFacts,
    ),
  ],
  [
    'Readiness: pods of a DaemonSet on one node',
    on(
      (size) => many(size, (index) => toAgentFacts(apiAgent('n1', { name: `a${index}`, ready: false }))),
      (agents) => {
        const cluster = clusterWith({ n1: {} });
        for (const facts of agents) cluster.apply({ kind: 'agent', facts }, now);
        return cluster.status({ namespace: 'net', name: 'agent' }, 'n1', now, 1000);
      },
    ),
  ],
  [
    'Readiness: nodes that come and go',
    on(
      (size) => many(size, (index) => toNodeFacts(apiNode(`n${index}`, 'b1', 1))),
      (nodes) => {
        const cluster = new Readiness();
        for (const facts of nodes) cluster.apply({ kind: 'node', facts, listed: true }, now);
        for (const { name } of nodes) cluster.apply({ kind: 'node-gone', name }, now);
      },
    ),
  ],
  [
    'filterNode',
    on(
      (size) =>
        [
          waiting('a', { tolerations: many(size, toleration) }),
          node('n1', { taints: many(size, taint) }),
        ] as const,
      ([pod, there]) => filterNode(pod, there, openGate, undefined),
    ),
  ],
]);
