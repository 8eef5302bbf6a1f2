import assert from 'node:assert/strict';
import { decodePodRequest } from '../../../webhook/admission/decode.ts';
import { admit } from '../../../webhook/admission/mutate/mutate.ts';
import { reviewNamespace } from '../../../webhook/admission/mutate/namespace-label.ts';
import { foreign, podInfoVolume, profileLabel, statusAnnotation } from '../../../webhook/lib/names.ts';
import type { Work } from '../../support/growth.ts';
import { growsLinearly, many, map, on, onText } from '../../support/hostile-work.ts';
import { namespaceReview, namespaceWith } from '../../support/namespace-reviews.ts';
import { reviewOf } from '../../support/reviews.ts';
import { containers, everything, nested, ours, policy } from './inputs.ts';

/** Admission of a pod in a namespace with this profile. */
const admitting =
  (profile: string, make: (size: number) => { metadata?: object; spec?: object }, by = everything): Work =>
  (size) => {
    const { metadata = {}, spec = {} } = make(size);
    const body = reviewOf({ metadata: { name: 'a', ...metadata }, spec: { containers, ...spec } });
    const namespace = { labels: { [profileLabel]: profile } };
    return () => admit(decodePodRequest(body), { policy: by, namespace });
  };

const networks = (text: string) => ({ metadata: { annotations: { [foreign.networks]: text } } });

growsLinearly('admission', [
  [
    'a namespace: a label',
    onText((label) => reviewNamespace(namespaceReview(namespaceWith(label)), everything), 'cilium.'),
  ],
  [
    'a namespace: labels',
    on(
      (size) => namespaceReview({ metadata: { name: 'a', labels: map(size, () => 'x') } }),
      (body) => reviewNamespace(body, everything),
    ),
  ],
  [
    'a wrong label',
    onText(
      (text) =>
        assert.throws(() =>
          decodePodRequest(reviewOf({ metadata: { labels: { [text]: 1 } }, spec: { containers } })),
        ),
      'a',
    ),
  ],
  [
    'containers',
    admitting('cilium.linkerd', (size) => ({
      spec: {
        containers: many(size, (index) => ({
          name: `c${index}`,
          resources: { limits: { cpu: '1', memory: '1' } },
        })),
      },
    })),
  ],
  [
    'variables',
    admitting('linkerd', (size) => ({
      spec: {
        containers: [
          { name: 'linkerd-proxy', env: many(size, (index) => ({ name: `V${index}`, value: 'x' })) },
        ],
      },
    })),
  ],
  [
    'an address list',
    admitting('linkerd', (size) => ({
      spec: {
        containers: [
          {
            name: 'linkerd-proxy',
            env: [{ name: 'LINKERD2_PROXY_INBOUND_LISTEN_ADDR', value: '[::]:1,'.repeat(size) }],
          },
        ],
      },
    })),
  ],
  [
    'one address',
    admitting('linkerd', (size) => ({
      spec: {
        containers: [
          {
            name: 'linkerd-proxy',
            env: [{ name: 'LINKERD2_PROXY_INBOUND_LISTEN_ADDR', value: `[${':'.repeat(size)}]:1` }],
          },
        ],
      },
    })),
  ],
  [
    'labels and annotations',
    admitting('cilium', (size) => ({
      metadata: { labels: map(size, () => 'x'), annotations: map(size, () => 'x') },
    })),
  ],
  [
    'a status',
    admitting('cilium', (size) => ({ metadata: { annotations: { [statusAnnotation]: nested(size) } } })),
  ],
  [
    'a profile label',
    admitting('cilium', (size) => ({ metadata: { labels: { [profileLabel]: 'cilium.'.repeat(size) } } })),
  ],
  [
    'volumes of our name, mounted by others',
    admitting('cilium', (size) => ({
      spec: {
        initContainers: [ours],
        volumes: many(size, () => ({
          name: podInfoVolume,
          downwardAPI: { items: [{ path: 'network-status' }] },
        })),
        containers: [
          {
            name: 'app',
            volumeMounts: many(size, (index) => ({
              name: index === size - 1 ? podInfoVolume : 'other',
              mountPath: '/a',
            })),
          },
        ],
      },
    })),
  ],
  [
    'a container of ours that was changed',
    admitting('cilium', (size) => ({
      spec: {
        initContainers: [
          {
            ...ours,
            env: many(size, () => ours.env[0]),
            volumeMounts: many(size, () => ({ name: 'a', mountPath: '/a' })),
            securityContext: map(size, () => 1),
          },
        ],
      },
    })),
  ],
  [
    'affinity to Windows',
    admitting('cilium', (size) => ({
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: many(size, () => ({
                matchExpressions: [{ key: 'kubernetes.io/os', operator: 'In', values: ['windows'] }],
              })),
            },
          },
        },
      },
    })),
  ],
  [
    'owners',
    admitting('cilium', (size) => ({
      metadata: { ownerReferences: many(size, () => ({ apiVersion: 'v1', kind: 'DaemonSet', name: 'x' })) },
    })),
  ],
  ['networks: hyphens', admitting('nets', (size) => networks(`${'a-'.repeat(size)}!`), policy)],
  ['networks: lists in lists', admitting('nets', (size) => networks('['.repeat(size)), policy)],
  ['networks in a list', admitting('nets', (size) => networks('storage,'.repeat(size)), policy)],
  [
    'networks, values in values',
    admitting('nets', (size) => networks(`[{"name":"storage","cni-args":${nested(size)}}]`), policy),
  ],
  [
    'networks, a long value',
    admitting('nets', (size) => networks(`[{"name":"storage","mac":"${'\\u001b]'.repeat(size)}"}]`), policy),
  ],
]);
