import { optOutValue, profileLabel, statusAnnotation } from '../../lib/names.ts';
import type { Policy } from '../profiles/policy.ts';
import { allOf, type Cel } from './cel.ts';
import { markBeginning } from './left.ts';

/*
 * The match conditions of the mutating webhook, the mutating policy, and the policy that checks the final pod. They
 * exclude exempt pods without a status annotation, so that these pods start even if no replica answers. Only the
 * mutating policy sees the pods of networks' DaemonSets.
 */

/** A match condition of a webhook or a policy. */
export interface MatchCondition {
  name: string;
  expression: Cel;
}

export const namespaceSelector = {
  matchExpressions: [
    { key: profileLabel, operator: 'Exists' },
    { key: profileLabel, operator: 'NotIn', values: [optOutValue, ''] },
    { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', 'cni-gate'] },
  ],
};

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

export const ofANetwork = 'not-of-a-network';

/** Also selects exempt pods with the annotation of {@link hasStatus}, so that admission removes an earlier injection. */
const unlessInjected = (expression: Cel): Cel => `${expression} || ${hasStatus}`;

const osLabels = "['kubernetes.io/os', 'beta.kubernetes.io/os']";

/** Whether the pod runs only on Windows: by `spec.os`, the node selector, or all terms of the node affinity. */
const onWindows =
  "(object.spec.?os.?name.orValue('') == 'windows' " +
  `|| ${osLabels}.exists(label, object.spec.?nodeSelector[?label].orValue('') == 'windows') ` +
  '|| [object.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])] ' +
  '.exists(terms, size(terms) > 0 && terms.all(term, term.?matchExpressions.orValue([]).exists(wanted, ' +
  `wanted.key in ${osLabels} && wanted.operator == 'In' ` +
  "&& wanted.?values.orValue([]).all(value, value == 'windows')))))";

const notOnTheHostNetwork = '!object.spec.?hostNetwork.orValue(false)';

/** Whether the pod belongs to a network's DaemonSet: such a pod must not wait for its own network. */
function ofNetwork({ daemonSets }: Pick<Policy, 'daemonSets'>): Cel {
  const names = [...daemonSets].sort().map((name) => `'${name}'`);
  return (
    "object.metadata.?ownerReferences.orValue([]).exists(owner, owner.kind == 'DaemonSet' " +
    "&& owner.?controller.orValue(false) && request.namespace + '/' + owner.name in " +
    `[ ${names.join(', ')}])`
  );
}

/**
 * Whether the pod is exempt only because it belongs to a network's DaemonSet. Admission records this, because the
 * policy that checks the final pod may not know the DaemonSet.
 */
export const isRecorded = (policy: Pick<Policy, 'daemonSets'>): Cel =>
  allOf([notOnTheHostNetwork, `!${onWindows}`, ofNetwork(policy)]);

/** The match conditions, without {@link leftByThePolicy}. */
export function conditionsOf(policy: Pick<Policy, 'daemonSets' | 'proof'>): MatchCondition[] {
  const ownLabel = `object.metadata.?labels[?'${profileLabel}'].orValue('')`;
  const conditions = {
    'not-a-mirror-pod': "!object.metadata.?annotations[?'kubernetes.io/config.mirror'].hasValue()",
    'not-by-a-kubelet': "!('system:nodes' in request.userInfo.groups)",
    'not-on-the-host-network': unlessInjected(notOnTheHostNetwork),
    ...(policy.proof.allowOptOut && { 'not-opted-out': unlessInjected(`${ownLabel} != '${optOutValue}'`) }),
    'not-on-windows': unlessInjected(`!${onWindows}`),
    [ofANetwork]: unlessInjected(`!${ofNetwork(policy)}`),
  };
  return Object.entries(conditions).map(([name, expression]) => ({ name, expression }));
}

/** The webhook's condition beside a mutating policy: the policy left the pod to the webhook, or did not see the pod. */
export const leftByThePolicy: MatchCondition = {
  name: 'left-by-the-policy',
  expression: `!${hasStatus} || object.metadata.annotations['${statusAnnotation}'].matches('${markBeginning}')`,
};
