import assert from 'node:assert/strict';
import { Evidence } from '../../../webhook/evidence/evidence.ts';
import { decidePlacement } from '../../../webhook/gate/decide.ts';
import { toGatePod } from '../../../webhook/gate/gate-pod.ts';
import { decodePlacement } from '../../../webhook/gate/placement.ts';
import { refusedFor } from '../../../webhook/gate/refusal.ts';
import { promisedTo } from '../../../webhook/inject/promised.ts';
import { profileLabel, statusAnnotation } from '../../../webhook/lib/names.ts';
import { growsLinearly, many, on, onText } from '../../support/hostile-work.ts';
import { binding, clusterWith } from '../gate/support.ts';
import { now } from '../readiness/objects.ts';
import { condition, containers, denied, metadata, nested, ours, policy } from './inputs.ts';

const view = {
  readiness: clusterWith({ n1: {} }),
  notSynced: () => false,
  notObservedSince: () => false,
  evidence: new Evidence(),
};

growsLinearly('the gate', [
  ['refusedFor: refusals', onText(refusedFor, denied, '', 'CNI_GATE_NODE_NOT_READY')],
  ['refusedFor: a node', onText(refusedFor, 'a', denied, ' is not ready CNI_GATE_NODE_NOT_READY')],
  [
    'refusedFor: profiles',
    onText(refusedFor, ' for profile a:', `${denied}n1 is not ready`, ' CNI_GATE_NODE_NOT_READY'),
  ],
  [
    'refusedFor: codes',
    onText(refusedFor, ' (CNI_GATE_NODE_NOT_READY', `${denied}n1 is not ready for profile a: `),
  ],
  [
    'pickPending',
    onText((text) => toGatePod({ metadata, status: condition(text) }), denied, '', 'CNI_GATE_NODE_NOT_READY'),
  ],
  [
    'promisedTo: a label',
    onText(
      (text) =>
        promisedTo({ metadata: { labels: { [profileLabel]: text } }, spec: { initContainers: [ours] } }),
      'a.',
    ),
  ],
  [
    'promisedTo: a status',
    on(
      (size) => JSON.stringify({ profiles: many(size, (index) => `p${index}`) }),
      (text) => promisedTo({ metadata: { annotations: { [statusAnnotation]: text } } }),
    ),
  ],
  [
    'promisedTo: a deep status',
    on(nested, (text) => promisedTo({ metadata: { annotations: { [statusAnnotation]: text } } })),
  ],
  [
    'promisedTo: variables',
    on(
      (size) => [{ ...ours, env: many(size, () => ({ name: 'CNI_GATE_CHECKS', value: '[{}]' })) }],
      (initContainers) => promisedTo({ metadata: {}, spec: { initContainers } }),
    ),
  ],
  [
    'promisedTo: checks',
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
      (initContainers) => promisedTo({ metadata: {}, spec: { initContainers } }),
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
        promisedTo({
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
