import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fitText, inBytes } from '../../../validator/shared/fit-text.ts';
import { decodePodRequest } from '../../../webhook/admission/decode.ts';
import { annotationsOf } from '../../../webhook/admission/namespaces.ts';
import { fitWarnings, respond } from '../../../webhook/admission/respond.ts';
import { parseNetworks } from '../../../webhook/config/networks.ts';
import { decidePlacement } from '../../../webhook/gate/decide.ts';
import { toGatePod } from '../../../webhook/gate/gate-pod.ts';
import { decodePlacement } from '../../../webhook/gate/placement.ts';
import { promisedTo } from '../../../webhook/gate/promised.ts';
import { refusalText, refusedFor } from '../../../webhook/gate/refusal.ts';
import { mergeNetworks } from '../../../webhook/inject/merge-networks.ts';
import { admit } from '../../../webhook/inject/mutate.ts';
import { reviewNamespace } from '../../../webhook/inject/namespace-label.ts';
import { clean, quoted } from '../../../webhook/lib/clean.ts';
import {
  foreign,
  podInfoVolume,
  profileLabel,
  statusAnnotation,
  validatorContainer,
} from '../../../webhook/lib/names.ts';
import { isNamespaceName, isObjectName, isUid } from '../../../webhook/lib/object-names.ts';
import { quantity } from '../../../webhook/lib/quantity.ts';
import { countStates } from '../../../webhook/readiness/count.ts';
import { Readiness } from '../../../webhook/readiness/readiness.ts';
import { toAgentFacts, toDaemonSetFacts, toNodeFacts } from '../../../webhook/readiness/to-facts.ts';
import { coverageFindings } from '../../../webhook/review/findings/coverage.ts';
import { workloadKeys } from '../../../webhook/review/findings/keys.ts';
import { addAll, amountsOf } from '../../../webhook/scheduling/amounts.ts';
import { wantsDaemonPod } from '../../../webhook/scheduling/daemon.ts';
import { selectorText } from '../../../webhook/scheduling/label-selector.ts';
import { matchesNode } from '../../../webhook/scheduling/node-selector.ts';
import { podRequests } from '../../../webhook/scheduling/requests.ts';
import { matches } from '../../../webhook/scheduling/requirement.ts';
import { toleratesAll } from '../../../webhook/scheduling/taints.ts';
import { pickPod } from '../../../webhook/status/pick-pod.ts';
import { countProofs } from '../../../webhook/status/proof.ts';
import { layTable, wrap } from '../../../webhook/status/table.ts';
import { Candidates } from '../../../webhook/steer/candidates.ts';
import { History } from '../../../webhook/steer/history.ts';
import { LongHolds } from '../../../webhook/steer/long-holds.ts';
import { misfitOf } from '../../../webhook/steer/misfit.ts';
import { NodeUsageCounter, takenWith } from '../../../webhook/steer/node-usage.ts';
import { fitNote } from '../../../webhook/steer/notice.ts';
import { toPendingPod } from '../../../webhook/steer/pending-pod.ts';
import { Work as Steps, withoutPauses } from '../../../webhook/steer/work.ts';
import { policyOf } from '../../support/configurations.ts';
import { growth, type Work } from '../../support/growth.ts';
import { namespaceReview, namespaceWith } from '../../support/namespace-reviews.ts';
import { reviewOf } from '../../support/reviews.ts';
import { binding, clusterWith } from '../gate/support.ts';
import { apiAgent, apiDaemonSet, apiNode, now } from '../readiness/objects.ts';
import { byUid, node, usage, waiting } from '../steer/support.ts';

/** Linear work gives 4, and up to 10 where the collector of garbage takes its share; quadratic work gives 16. */
const max = 12;

/** Growth at which one attempt is enough: quadratic work does not come near it. */
const clear = 8;

/** The growth of the first attempt where that is clear, else the median of five: on a busy machine each is noisy. */
function typicalGrowth(work: Work): number {
  const first = growth(work);
  if (first <= clear) return first;
  const five = [first, growth(work), growth(work), growth(work), growth(work)];
  return five.toSorted((a, b) => a - b)[2] ?? first;
}

/** A pod that `review` found in a manifest. */
const podOfReview = {
  document: { file: 'f' },
  line: 1,
  podPath: [],
  path: [],
  kind: 'Pod',
  name: 'a',
  namespace: 'shop',
} as never;

const many = <T>(size: number, make: (index: number) => T): T[] =>
  Array.from({ length: size }, (_, index) => make(index));
const map = <T>(size: number, make: (index: number) => T): Record<string, T> =>
  Object.fromEntries(many(size, (index) => [`example.com/key-${index}`, make(index)]));

/** Work on a text that is a part over and over again, with something before and behind it. */
const onText =
  (handle: (text: string) => unknown, part: string, before = '', behind = ''): Work =>
  (size) => {
    const text = before + part.repeat(size) + behind;
    return () => handle(text);
  };

const on =
  <T>(make: (size: number) => T, handle: (value: T) => unknown): Work =>
  (size) => {
    const value = make(size);
    return () => handle(value);
  };

const profiles = [{ name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] }];
const policy = policyOf({
  profiles: [
    {
      name: 'nets',
      annotations: { [foreign.networks]: '[{"name":"storage","cni-args":{"mtu":1},"mac":"a"}]' },
      proof: { checks: [{ interfaces: {} }] },
    },
    ...profiles,
  ],
});
const everything = policyOf();

const containers = [{ name: 'app' }];
const ours = { name: validatorContainer, env: [{ name: 'CNI_GATE_CHECKS', value: '[]' }] };

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
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const denied = '"bindings.cni-gate.io" denied the request: node ';
const condition = (message: string) => ({ conditions: [{ type: 'PodScheduled', status: 'False', message }] });
const metadata = { uid: 'u', resourceVersion: '1', namespace: 'shop', name: 'web-0' };
const view = { readiness: clusterWith({ n1: {} }), notSynced: () => false, notObservedSince: () => false };
const taint = (index: number) => ({ key: `key-${index}`, value: 'v', effect: 'NoSchedule' });
const toleration = (index: number) => ({
  key: `key-${index}`,
  operator: 'Equal',
  value: 'w',
  effect: 'NoSchedule',
});
const expression = (index: number) => ({ key: `key-${index}`, operator: 'NotIn', values: ['x'] });
const requests = (index: number) => ({ resources: { requests: { [`example.com/r${index}`]: '1' } } });
const placedPod = (index: number) => ({
  metadata: { ...metadata, uid: `u${index}` },
  spec: { containers: [requests(index)] },
});
const keep = { policy, ownNamespace: 'cni-gate' };

/** Every function that works on texts and lists of others, with input that would be worst for it. One line each. */
const hostile: [string, Work][] = [
  // texts that are shown
  ['clean: OSC without an end', onText(clean, '\u001b]')],
  ['clean: OSC with text and no end', onText(clean, '\u001b]0;a')],
  ['clean: one OSC without an end', onText(clean, 'a', '\u001b]')],
  ['clean: CSI without an end', onText(clean, '\u001b[')],
  ['clean: CSI with parameters and no end', onText(clean, '0;', '\u001b[', '\n')],
  ['clean: CSI with intermediates and no end', onText(clean, ' 0', '\u001b[0', '\n')],
  ['clean: C1 controls', onText(clean, '\u009b0;')],
  ['clean: bidirectional controls', onText(clean, '\u202e')],
  ['quoted', onText(quoted, '\u001b]')],
  ['fitText: one word', onText((text) => fitText(text, 900, inBytes), 'a')],
  ['fitText: a code that does not end', onText((text) => fitText(text, 900), 'A', 'a (CNI_GATE_', ')')],
  ['fitText: codes that do not end', onText((text) => fitText(text, 900), ' (CNI_GATE_A')],
  ['fitText: blanks', onText((text) => fitText(text, 900), ' ', '', 'a')],
  ['fitNote', onText(fitNote, '\u001b]')],
  ['fitWarnings: a long one', onText((text) => fitWarnings([text]), ' a\n')],
  ['fitWarnings: many', on((size) => many(size, (index) => `warning ${index}`), fitWarnings)],
  [
    'respond: a long message',
    onText(
      (message) =>
        respond('u', {
          outcome: 'refused',
          reason: 'r',
          profiles: [],
          operations: [],
          warnings: [],
          message,
        }),
      '\u001b] ',
    ),
  ],
  ['wrap', onText((text) => wrap(text, 100), 'a ')],
  ['wrap: one word', onText((text) => wrap(text, 100), 'a')],

  // names
  ['names: hyphens', onText((text) => [isObjectName(text), isNamespaceName(text), isUid(text)], 'a-')],
  ['names: dots', onText((text) => [isObjectName(text), isNamespaceName(text), isUid(text)], 'a.')],

  // quantities and amounts
  ['quantity: digits that end in none', onText(quantity, '1', '', '!')],
  ['quantity: digits', onText(quantity, '1')],
  ['quantity: digits behind a point', onText(quantity, '1', '1.', '!')],
  ['quantity: an exponent', onText(quantity, '1', '1e', '!')],
  ['amountsOf', on((size) => map(size, () => '1'), amountsOf)],
  ['sumOf', on((size) => many(size, (index) => ({ [`r${index}`]: 1 })), addAll)],
  [
    'podRequests: containers with resources of their own',
    on((size) => ({ containers: many(size, requests) }), podRequests),
  ],
  ['podRequests: init containers', on((size) => ({ initContainers: many(size, requests) }), podRequests)],
  [
    'podRequests: sidecars',
    on(
      (size) => ({
        initContainers: many(size, (index) => ({
          ...requests(index),
          restartPolicy: index % 2 ? 'Always' : null,
        })),
      }),
      podRequests,
    ),
  ],

  // Kubernetes' rules for nodes
  ['matches: digits', onText((text) => matches({ operator: 'Gt', key: 'a', values: [text] }, text), '1')],
  [
    'toleratesAll: taints and tolerations',
    on(
      (size) => [many(size, toleration), many(size, taint)] as const,
      ([some, all]) => toleratesAll(some, all),
    ),
  ],
  [
    'toleratesAll: of one key',
    on(
      (size) =>
        [
          many(size, (index) => ({ key: 'k', value: `${index}` })),
          many(size, () => ({ ...taint(0), key: 'k', value: 'x' })),
        ] as const,
      ([some, all]) => toleratesAll(some, all),
    ),
  ],
  [
    'wantsDaemonPod',
    on(
      (size) => ({ tolerations: many(size, toleration) }),
      (template) => wantsDaemonPod(template, { name: 'n1', labels: {}, taints: many(100, taint) }),
    ),
  ],
  [
    'matchesNode',
    on(
      (size) => ({
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: many(size, (index) => ({
                matchExpressions: [{ ...expression(index), operator: 'In' }],
              })),
            },
          },
        },
      }),
      (constraints) => matchesNode(constraints, { name: 'n1', labels: map(10, () => 'x') }),
    ),
  ],
  [
    'selectorText',
    on(
      (size) => ({ matchLabels: map(size, () => 'x'), matchExpressions: many(size, expression) }),
      selectorText,
    ),
  ],

  // admission
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
  ['annotationsOf', on((size) => map(size, (index) => `${index}`), annotationsOf)],
  ['annotationsOf: digits', onText((text) => annotationsOf({ a: text }), '1')],
  [
    'reviewNamespace: a label',
    onText((label) => reviewNamespace(namespaceReview(namespaceWith(label)), everything), 'cilium.'),
  ],
  [
    'reviewNamespace: labels',
    on(
      (size) => namespaceReview({ metadata: { name: 'a', labels: map(size, () => 'x') } }),
      (body) => reviewNamespace(body, everything),
    ),
  ],
  [
    'decodePodRequest: a kind',
    onText(
      (text) => assert.throws(() => decodePodRequest(reviewOf({}, { kind: { group: text, kind: text } }))),
      'a',
    ),
  ],
  [
    'decodePodRequest: a wrong label',
    onText(
      (text) =>
        assert.throws(() =>
          decodePodRequest(reviewOf({ metadata: { labels: { [text]: 1 } }, spec: { containers } })),
        ),
      'a',
    ),
  ],
  [
    'decodePodRequest: values in values',
    on(
      (size) => ({ a: JSON.parse(nested(size)) }),
      (deep) => decodePodRequest(reviewOf({ metadata: { name: 'a' }, spec: { containers, affinity: deep } })),
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

  // the gate
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
          { profiles: names, heldSince: undefined },
          view,
          policy,
          now,
        ),
    ),
  ],

  // readiness
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
    'pickDaemonSet',
    on((size) => apiDaemonSet('agent', { tolerations: many(size, toleration) }), toDaemonSetFacts),
  ],
  [
    'refusalText: a reason',
    onText((waitingFor) => {
      const agent = toAgentFacts(apiAgent('n1', { ready: false, waiting: waitingFor }));
      return refusalText({
        node: 'n1',
        profile: 'mesh',
        daemonSet: { namespace: 'net', name: 'agent' },
        status: { state: 'broken', reason: agent.reason },
      });
    }, 'a\u001b] '),
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
    'Readiness: pods with many containers',
    on(
      (size) =>
        many(4, (index) =>
          toAgentFacts(apiAgent('n1', { containers: many(size, (id) => `c${index}-${id}`) })),
        ),
      (agents) => {
        const cluster = clusterWith({ n1: {} });
        for (const facts of agents) cluster.apply({ kind: 'agent', facts }, now);
        cluster.apply({ kind: 'node', facts: toNodeFacts(apiNode('n1', 'b2', 9)), listed: false }, now);
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
    'countStates',
    on(
      (size) => clusterWith(Object.fromEntries(many(size, (index) => [`n${index}`, {}]))),
      (cluster) => countStates(cluster, { namespace: 'net', name: 'agent' }, now, 1000),
    ),
  ],

  // steering
  [
    'toPendingPod: tolerations',
    on((size) => ({ metadata, spec: { tolerations: many(size, toleration) } }), toPendingPod),
  ],
  [
    'toPendingPod: volumes',
    on(
      (size) => ({
        metadata,
        spec: {
          volumes: many(size, (index) => ({
            name: `v${index}`,
            persistentVolumeClaim: { claimName: `c${index}` },
          })),
        },
      }),
      toPendingPod,
    ),
  ],
  [
    'toPendingPod: owners',
    on(
      (size) => ({ metadata: { ...metadata, ownerReferences: many(size, () => ({ uid: 'x' })) }, spec: {} }),
      toPendingPod,
    ),
  ],
  [
    'NodeUsageCounter',
    on(
      (size) => many(size, placedPod),
      (pods) => {
        const counter = new NodeUsageCounter();
        for (const pod of pods) counter.add(pod);
        return counter.usage(now);
      },
    ),
  ],
  [
    'takenWith',
    on(
      (size) =>
        many(size, (index) => ({
          uid: `u${index}`,
          node: 'n1',
          group: `g${index}`,
          requests: { [`r${index}`]: 1 },
          leftAt: undefined,
        })),
      (expected) => takenWith(usage({}), expected),
    ),
  ],
  [
    'misfitOf',
    on(
      (size) =>
        [
          waiting('a', { tolerations: many(size, toleration) }),
          node('n1', { taints: many(size, taint) }),
        ] as const,
      ([pod, there]) => misfitOf(pod, there),
    ),
  ],
  [
    'Candidates',
    on(
      (size) => many(size, (index) => node(`n${index}`)),
      (nodes) =>
        withoutPauses(
          new Candidates(nodes, () => true, 0, new Steps()).for(waiting('a', { requests: { gpu: 1 } })),
        ),
    ),
  ],
  [
    'History: pods that only the scheduler can judge',
    on(
      (size) => many(size, (index) => waiting(`p${index}`, { group: `g${index % 10}`, unverifiable: true })),
      (pods) => {
        const history = new History();
        for (const pod of pods) {
          history.width(pod);
          history.made({ pod, node: 'n1' }, '1', now);
        }
        return history.observe(byUid(...pods.slice(0, 5)), now);
      },
    ),
  ],
  [
    'LongHolds',
    on(
      (size) => many(size, (index) => waiting(`p${index}`, { heldSince: 1 })),
      (pods) =>
        new LongHolds().due(
          pods,
          { policy, readiness: clusterWith({ n1: { ready: false } }), unsteered: undefined },
          now,
          10,
        ),
    ),
  ],

  // status and review
  [
    'pickPod',
    onText(
      (text) => pickPod({ metadata, spec: { containers }, status: condition(text) } as never, keep),
      denied,
      '',
      'CNI_GATE_NODE_NOT_READY',
    ),
  ],
  [
    'countProofs',
    on((size) => many(size, (index) => ({ namespace: `ns${index}`, proof: 'passed' as const })), countProofs),
  ],
  [
    'layTable',
    on(
      (size) => many(size, (index) => [`row ${index}`, 'a '.repeat(60)]),
      (rows) => layTable(['NAME', 'WHY'], rows, { width: 100, sentences: 1, emphasis: (text) => text }),
    ),
  ],
  [
    'workloadKeys',
    on(
      (size) => map(size, () => 'x'),
      (labels) => workloadKeys({ metadata: { labels } }, [podOfReview]),
    ),
  ],
  [
    'workloadKeys: keys like ours',
    on(
      (size) => Object.fromEntries(many(size, (index) => [`cni-gate.io/profil${index}`, 'x'])),
      (labels) => workloadKeys({ metadata: { labels } }, [podOfReview]),
    ),
  ],
  [
    'coverageFindings',
    on(
      (size) =>
        [
          many(size, (index) => ({
            workload: { namespace: `ns${index}`, document: { file: 'f' }, line: 1 },
            verdict: { outcome: 'skipped', reason: 'nothing-promised' },
          })),
          new Map(
            many(size, (index) => [
              `ns${index}`,
              { labels: { [profileLabel]: 'cilium' }, file: 'f', line: 1 },
            ]),
          ),
        ] as unknown as [Parameters<typeof coverageFindings>[0], Parameters<typeof coverageFindings>[1]],
      ([reviewed, known]) => coverageFindings(reviewed, known, [], 'labels', undefined),
    ),
  ],
];

suite('work grows with its input and no faster', () => {
  for (const [name, work] of hostile) {
    test(name, { timeout: 120_000 }, () => {
      const grown = typicalGrowth(work);
      assert.ok(grown <= max, `an input 4 times as large takes ${grown.toFixed(1)} times as long`);
    });
  }

  test('the measure tells quadratic work from linear work', () => {
    const spin = (rounds: number): number => {
      let sum = 0;
      for (let round = 0; round < rounds; round += 1) sum += round % 7;
      return sum;
    };
    assert.ok(typicalGrowth((size) => () => spin(size * size)) > max);
    assert.ok(typicalGrowth((size) => () => spin(size * 1000)) <= max);
    assert.equal(
      growth(() => () => 0),
      0,
    );
  });
});
