import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fitText } from '../../../validator/shared/fit-text.ts';
import { decodePodRequest } from '../../../webhook/admission/decode.ts';
import { refusedFor } from '../../../webhook/admission/gate/refusal.ts';
import { admit } from '../../../webhook/admission/mutate/mutate.ts';
import { reviewNamespace } from '../../../webhook/admission/mutate/namespace-label.ts';
import { requiredProfiles } from '../../../webhook/admission/mutate/status-annotation.ts';
import { filterNode } from '../../../webhook/leader/nominate/filters.ts';
import { clean } from '../../../webhook/lib/clean.ts';
import { foreign, profileLabel, statusAnnotation, validatorContainer } from '../../../webhook/lib/names.ts';
import { isNamespaceName, isObjectName, isUid } from '../../../webhook/lib/object-names.ts';
import { toAgentFacts } from '../../../webhook/nodes/readiness/to-facts.ts';
import { podRequests } from '../../../webhook/nodes/scheduling/requests.ts';
import { requiring } from '../../support/affinity.ts';
import { policyOf } from '../../support/configurations.ts';
import { typicalGrowth, type Work } from '../../support/growth.ts';
import { namespaceReview, namespaceWith } from '../../support/namespace-reviews.ts';
import { reviewOf } from '../../support/reviews.ts';
import { clusterWith } from '../admission/gate/support.ts';
import { gateWithout, node, waiting } from '../leader/nominate/support.ts';
import { apiAgent, now } from '../nodes/readiness/objects.ts';

/** Linear work gives 4, and up to 10 where the collector of garbage takes its share; quadratic work gives 16. */
const mostGrowth = 12;

const many = <T>(size: number, make: (index: number) => T): T[] =>
  Array.from({ length: size }, (_, index) => make(index));

/** Work on a text that repeats a part, with something before and behind it. */
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

const policy = policyOf();
const nets = policyOf({
  profiles: [
    {
      name: 'nets',
      annotations: { [foreign.networks]: '[{"name":"storage","mac":"a"}]' },
      proof: { checks: [{ interfaces: {} }] },
    },
  ],
});
const containers = [{ name: 'app' }];

const admitting = (
  profile: string,
  make: (size: number) => { annotations?: object; ownerReferences?: object[]; spec?: object },
  by = policy,
): Work =>
  on(
    (size) => {
      const { spec = {}, ...metadata } = make(size);
      return reviewOf({ metadata: { name: 'a', ...metadata }, spec: { containers, ...spec } });
    },
    (body) =>
      admit(decodePodRequest(body), { policy: by, namespace: { labels: { [profileLabel]: profile } } }),
  );

const listening = (address: (size: number) => string): Work =>
  admitting('linkerd', (size) => ({
    spec: {
      containers: [
        {
          name: 'linkerd-proxy',
          env: [{ name: 'LINKERD2_PROXY_INBOUND_LISTEN_ADDR', value: address(size) }],
        },
      ],
    },
  }));

const networks = (text: (size: number) => string): Work =>
  admitting('nets', (size) => ({ annotations: { [foreign.networks]: text(size) } }), nets);

const windows = { matchExpressions: [{ key: 'kubernetes.io/os', operator: 'In', values: ['windows'] }] };
const denied = '"bindings.cni-gate.io" denied the request: node ';
const checks = (value: string) => ({ name: validatorContainer, env: [{ name: 'CNI_GATE_CHECKS', value }] });

/** The worst input for each function that reads texts and lists of others; `tests/attack` has the largest pods. */
const hostile: [name: string, work: Work][] = [
  [
    'the label of a namespace',
    onText((label) => reviewNamespace(namespaceReview(namespaceWith(label)), policy), 'cilium.'),
  ],
  ['a list of addresses', listening((size) => '[::]:1,'.repeat(size))],
  ['one address', listening((size) => `[${':'.repeat(size)}]:1`)],
  [
    'a status',
    admitting('cilium', (size) => ({
      annotations: { [statusAnnotation]: `${'{"a":'.repeat(size)}1${'}'.repeat(size)}` },
    })),
  ],
  [
    'variables of our container',
    admitting('cilium', (size) => ({
      spec: { initContainers: [{ ...checks('[]'), env: many(size, () => checks('[]').env[0]) }] },
    })),
  ],
  [
    'affinity to Windows',
    admitting('cilium', (size) => ({ spec: { affinity: requiring(...many(size, () => windows)) } })),
  ],
  [
    'owners',
    admitting('cilium', (size) => ({
      ownerReferences: many(size, () => ({ apiVersion: 'v1', kind: 'DaemonSet', name: 'x' })),
    })),
  ],
  ['networks: hyphens', networks((size) => `${'a-'.repeat(size)}!`)],
  ['networks: lists in lists', networks((size) => '['.repeat(size))],
  ['networks: a long value', networks((size) => `[{"name":"storage","mac":"${'\\u001b]'.repeat(size)}"}]`)],
  ['codes in a refusal', onText(refusedFor, ' (CNI_GATE_NODE_NOT_READY ', denied, ')')],
  [
    'checks of a pod',
    on(
      (size) => [checks(JSON.stringify(many(size, (index) => ({ profile: `p${index}` }))))],
      (initContainers) => requiredProfiles({ metadata: {}, spec: { initContainers } }),
    ),
  ],
  [
    'pods of a DaemonSet on one node',
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
    'tolerations and taints',
    on(
      (size) => {
        const all = many(size, (index) => ({ key: `key-${index}`, value: 'v', effect: 'NoSchedule' }));
        const tolerations = all.map((taint) => ({ ...taint, operator: 'Equal', value: 'w' }));
        return [waiting('a', { tolerations }), node('n1', { taints: all })] as const;
      },
      ([pod, there]) => filterNode(pod, there, gateWithout(''), undefined),
    ),
  ],
  ['CSI with parameters and no end', onText(clean, '0;', '\u001b[', '\n')],
  ['CSI with intermediates and no end', onText(clean, ' 0', '\u001b[0', '\n')],
  ['a code that does not end', onText((text) => fitText(text, 900), 'A', 'a (CNI_GATE_', ')')],
  ['codes that do not end', onText((text) => fitText(text, 900), ' (CNI_GATE_A')],
  ['hyphens in a name', onText((text) => [isObjectName(text), isNamespaceName(text), isUid(text)], 'a-')],
  [
    'requests of sidecars',
    on(
      (size) => ({
        initContainers: many(size, (index) => ({
          resources: { requests: { [`example.com/r${index}`]: '1' } },
          restartPolicy: index % 2 ? 'Always' : null,
        })),
      }),
      podRequests,
    ),
  ],
];

suite('work grows with its input and no faster', () => {
  for (const [name, work] of hostile) {
    test(name, { timeout: 120_000 }, () => {
      const grown = typicalGrowth(work);
      assert.ok(grown <= mostGrowth, `an input 4 times as large takes ${grown.toFixed(1)} times as long`);
    });
  }
});
