import assert from 'node:assert/strict';
import { decidePlacement } from '../../../webhook/admission/gate/decide.ts';
import { toGatePod } from '../../../webhook/admission/gate/gate-pod.ts';
import { decodePlacement } from '../../../webhook/admission/gate/placement.ts';
import { refusedFor } from '../../../webhook/admission/gate/refusal.ts';
import { requiredProfiles } from '../../../webhook/admission/mutate/status-annotation.ts';
import { profileLabel, statusAnnotation } from '../../../webhook/lib/names.ts';
import { Evidence } from '../../../webhook/nodes/evidence/evidence.ts';
import { growsLinearly, many, on, onText } from '../../support/hostile-work.ts';
import { binding, clusterWith } from '../admission/gate/support.ts';
import { now } from '../nodes/readiness/objects.ts';
import { condition, containers, denied, metadata, nested, ours, policy } from './inputs.ts';

const view = {
  readiness: clusterWith({ n1: {} }),
  notSynced: () => false,
  notObservedSince: () => false,
  evidence: new Evidence(),
};

growsLinearly('the gate', [
  ['refusedFor: refusals', onText(refusedFor, denied, '', 'CNI_GATE_NODE_NOT_READY')],
  [
    'refusedFor: a node',
    onText(refusedFor, 'a', `${denied} (CNI_GATE_NODE_NOT_READY node=`, ' profile=a state=b)'),
  ],
  ['refusedFor: fields', onText(refusedFor, ' node=a', `${denied} (CNI_GATE_NODE_NOT_READY`, ')')],
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
    'requiredProfiles: a deep status',
    on(nested, (text) => requiredProfiles({ metadata: { annotations: { [statusAnnotation]: text } } })),
  ],
  [
    'requiredProfiles: variables',
    on(
      (size) => [{ ...ours, env: many(size, () => ({ name: 'CNI_GATE_CHECKS', value: '[{}]' })) }],
      (initContainers) => requiredProfiles({ metadata: {}, spec: { initContainers } }),
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
    'decidePlacement',
    on(
      (size) =>
        requiredProfiles({
          metadata: {
            annotations: { [statusAnnotation]: JSON.stringify({ profiles: many(size, () => 'mesh') }) },
          },
        }),
      (names) =>
        decidePlacement(
          decodePlacement(binding()),
          { profiles: names, heldSince: undefined, group: 'g1' },
          view,
          policy,
          now,
        ),
    ),
  ],
]);
