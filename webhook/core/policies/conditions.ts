import { optOutValue, profileLabel, statusAnnotation } from '../../lib/names.ts';
import type { Policy } from '../profiles/policy.ts';
import type { Cel } from './cel.ts';
import { markBeginning } from './left.ts';

/*
 * Which namespaces and pods the API server asks about: one list for the mutating webhook, the mutating policy, and the
 * policy over the final pod. Pods that are left alone are not even asked about, so they start while no replica is there.
 */

/** A match condition of a webhook or a policy. */
export interface MatchCondition {
  name: string;
  expression: Cel;
}

/** The namespaces that opted in. kube-system and cni-gate are exempt: no pod of them may wait for cni-gate. */
export const namespaceSelector = {
  matchExpressions: [
    { key: profileLabel, operator: 'Exists' },
    { key: profileLabel, operator: 'NotIn', values: [optOutValue, ''] },
    { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', 'cni-gate'] },
  ],
};

/** The creation of pods, in the namespaces of {@link namespaceSelector}. */
export const matchConstraints = {
  namespaceSelector,
  resourceRules: [
    {
      apiGroups: [''],
      apiVersions: ['v1'],
      resources: ['pods'],
      operations: ['CREATE'],
      scope: 'Namespaced',
    },
  ],
};

export const hasStatus = `object.metadata.?annotations[?'${statusAnnotation}'].hasValue()`;

/** What carries an earlier injection is asked about, to lose it. */
const unlessInjected = (expression: Cel): Cel => `${expression} || ${hasStatus}`;

const osLabels = "['kubernetes.io/os', 'beta.kubernetes.io/os']";

/** On Windows only: by `spec.os`, the node selector, or all required terms of the node affinity. */
const onWindows =
  "(object.spec.?os.?name.orValue('') == 'windows' " +
  `|| ${osLabels}.exists(label, object.spec.?nodeSelector[?label].orValue('') == 'windows') ` +
  '|| [object.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])] ' +
  '.exists(terms, size(terms) > 0 && terms.all(term, term.?matchExpressions.orValue([]).exists(wanted, ' +
  `wanted.key in ${osLabels} && wanted.operator == 'In' ` +
  "&& wanted.?values.orValue([]).all(value, value == 'windows')))))";

/**
 * The match conditions of a configuration. The DaemonSets are those that bring networks: they must never wait for their
 * own network.
 */
export const conditionsOf = ({ daemonSets, proof }: Pick<Policy, 'daemonSets' | 'proof'>): MatchCondition[] =>
  allConditions(daemonSets).filter(({ name }) => proof.allowOptOut || name !== 'not-opted-out');

const allConditions = (daemonSets: Iterable<string>): MatchCondition[] => [
  {
    name: 'not-a-mirror-pod',
    expression: "!object.metadata.?annotations[?'kubernetes.io/config.mirror'].hasValue()",
  },
  { name: 'not-by-a-kubelet', expression: "!('system:nodes' in request.userInfo.groups)" },
  {
    name: 'not-on-the-host-network',
    expression: unlessInjected('!object.spec.?hostNetwork.orValue(false)'),
  },
  {
    name: 'not-opted-out',
    expression: unlessInjected(`object.metadata.?labels[?'${profileLabel}'].orValue('') != '${optOutValue}'`),
  },
  { name: 'not-on-windows', expression: unlessInjected(`!${onWindows}`) },
  {
    name: 'not-of-a-network',
    expression: unlessInjected(
      "!object.metadata.?ownerReferences.orValue([]).exists(owner, owner.kind == 'DaemonSet' " +
        "&& owner.?controller.orValue(false) && request.namespace + '/' + owner.name in [ " +
        `${[...daemonSets]
          .sort()
          .map((name) => `'${name}'`)
          .join(', ')}])`,
    ),
  },
];

/**
 * The webhook's further condition beside a mutating policy, which has written a status annotation: only pods that the
 * policy left to the webhook, or did not see.
 */
export const leftByThePolicy: MatchCondition = {
  name: 'left-by-the-policy',
  expression: `!${hasStatus} || object.metadata.annotations['${statusAnnotation}'].matches('${markBeginning}')`,
};
