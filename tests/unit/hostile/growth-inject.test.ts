import { decodePodRequest } from '../../../webhook/admission/decode.ts';
import { mergeNetworks } from '../../../webhook/admission/mutate/merge-networks.ts';
import { admit } from '../../../webhook/admission/mutate/mutate.ts';
import { parseNetworks } from '../../../webhook/config/networks.ts';
import { foreign, podInfoVolume, profileLabel, statusAnnotation } from '../../../webhook/lib/names.ts';
import type { Work } from '../../support/growth.ts';
import { growsLinearly, many, map, on, onText } from '../../support/hostile-work.ts';
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

growsLinearly('admission of a pod', [
  ['parseNetworks: commas', onText(parseNetworks, 'a,')],
  ['parseNetworks: a name of hyphens', onText(parseNetworks, 'a-', '', '!')],
  ['parseNetworks: at signs', onText(parseNetworks, '@')],
  ['parseNetworks: lists in lists', onText(parseNetworks, '[')],
  [
    'mergeNetworks: a list',
    onText((text) => mergeNetworks(text, 'storage, backup, net/third', 'shop'), 'storage, ', '', 'a'),
  ],
  [
    'mergeNetworks: values in values',
    on(nested, (text) =>
      mergeNetworks(
        `[{"name":"storage","cni-args":${text}}]`,
        '[{"name":"storage","cni-args":{"mtu":1}}]',
        'shop',
      ),
    ),
  ],
  [
    'mergeNetworks: wide values',
    on(
      (size) => JSON.stringify(map(size, () => [1])),
      (text) =>
        mergeNetworks(
          `[{"name":"storage","cni-args":${text}}]`,
          '[{"name":"storage","cni-args":{"mtu":1}}]',
          'shop',
        ),
    ),
  ],
  [
    'admission: containers',
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
    'admission: init containers',
    admitting('istio', (size) => ({
      spec: { initContainers: many(size, () => ({ name: 'istio-validation' })) },
    })),
  ],
  [
    'admission: variables',
    admitting('linkerd', (size) => ({
      spec: {
        containers: [
          { name: 'linkerd-proxy', env: many(size, (index) => ({ name: `V${index}`, value: 'x' })) },
        ],
      },
    })),
  ],
  [
    'admission: containers of one name',
    admitting('linkerd', (size) => ({
      spec: { containers: many(size, () => ({ name: 'linkerd-proxy', env: [{ name: 'a' }] })) },
    })),
  ],
  [
    'admission: an address list',
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
    'admission: one address',
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
    'admission: labels and annotations',
    admitting('cilium', (size) => ({
      metadata: { labels: map(size, () => 'x'), annotations: map(size, () => 'x') },
    })),
  ],
  [
    'admission: a status',
    admitting('cilium', (size) => ({ metadata: { annotations: { [statusAnnotation]: nested(size) } } })),
  ],
  [
    'admission: a profile label',
    admitting('cilium', (size) => ({ metadata: { labels: { [profileLabel]: 'cilium.'.repeat(size) } } })),
  ],
  [
    'admission: volumes of our name, mounted by others',
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
    'admission: volumes of our name that nobody mounts',
    admitting('cilium', (size) => ({
      spec: {
        initContainers: [ours],
        volumes: many(size, () => ({ name: podInfoVolume })),
        containers: [{ name: 'app', volumeMounts: many(size, () => ({ name: 'other', mountPath: '/a' })) }],
      },
    })),
  ],
  [
    'admission: our volumes in a pod that is left alone',
    admitting('none', (size) => ({
      spec: {
        initContainers: [ours],
        volumes: many(size, () => ({ name: podInfoVolume, downwardAPI: {} })),
        containers: [{ name: 'app', volumeMounts: many(size, () => ({ name: 'other', mountPath: '/a' })) }],
      },
    })),
  ],
  [
    'admission: a container of ours that was changed',
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
    'admission: pull secrets',
    admitting('cilium', (size) => ({ spec: { imagePullSecrets: many(size, () => ({ name: 'x' })) } })),
  ],
  [
    'admission: affinity to Windows',
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
    'admission: owners',
    admitting('cilium', (size) => ({
      metadata: { ownerReferences: many(size, () => ({ apiVersion: 'v1', kind: 'DaemonSet', name: 'x' })) },
    })),
  ],
  ['admission: networks in a list', admitting('nets', (size) => networks('storage,'.repeat(size)), policy)],
  [
    'admission: networks, values in values',
    admitting('nets', (size) => networks(`[{"name":"storage","cni-args":${nested(size)}}]`), policy),
  ],
  [
    'admission: networks, a long value',
    admitting('nets', (size) => networks(`[{"name":"storage","mac":"${'\\u001b]'.repeat(size)}"}]`), policy),
  ],
]);
