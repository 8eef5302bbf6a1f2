import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Decision, MutateContext } from '../../../webhook/admission/mutate.ts';
import type { NamespaceFacts } from '../../../webhook/core/facts/namespace.ts';
import type { Pod } from '../../../webhook/core/facts/pod.ts';
import { readStatus } from '../../../webhook/core/facts/status-annotation.ts';
import type { MatchCondition } from '../../../webhook/core/policies/conditions.ts';
import { type LeftReason, needsServer } from '../../../webhook/core/policies/left.ts';
import { policyObjects } from '../../../webhook/core/policies/policy.ts';
import type { Policy } from '../../../webhook/core/profiles/policy.ts';
import { profileLabel, statusAnnotation } from '../../../webhook/lib/names.ts';
import { answerTo, copyOf, patched } from '../../support/answers.ts';
import { ApiError } from '../harness/api.ts';
import type { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';
import { namespace, pod } from '../harness/objects.ts';
import { tryPod } from './overlay.ts';

/** The mutating webhook of the manifests, whose constraints and conditions the policy shares. */
export const webhook: {
  rules: object[];
  namespaceSelector: { matchExpressions: object[] };
  matchConditions: MatchCondition[];
} = parse(readFileSync(new URL('../../../manifests/base/mutating-webhook.yaml', import.meta.url), 'utf8'))
  .webhooks[0];

/** The label of a namespace that names its policy. */
const group = 'group';

/** A namespace in which no policy and no webhook of cni-gate is called. */
export const plainNamespace = 'plain';

export async function makeNamespace(
  cluster: Cluster,
  name: string,
  labels: Record<string, string>,
  annotations: Record<string, string> = {},
): Promise<void> {
  const object = namespace(name, labels) as { metadata: object };
  await cluster.apply({ ...object, metadata: { ...object.metadata, annotations } });
  await cluster.api.until(`/api/v1/namespaces/${name}/serviceaccounts`, () => true);
}

/** Installs the policy for the namespaces with the label `group: NAME`, and waits until it is in force. */
export async function installPolicy(cluster: Cluster, policy: Policy, name: string): Promise<void> {
  const { matchExpressions } = webhook.namespaceSelector;
  const objects = policyObjects(
    policy,
    { namespaceSelector: { matchLabels: { [group]: name }, matchExpressions }, resourceRules: webhook.rules },
    webhook.matchConditions,
  ) as { metadata: { name: string }; spec: { policyName?: string } }[];
  for (const object of objects) {
    const { policyName } = object.spec;
    const spec = { ...object.spec, ...(policyName !== undefined && { policyName: name }) };
    await cluster.apply({ ...object, metadata: { name }, spec });
  }
  const probed = `${name}-probe`;
  await makeNamespace(cluster, probed, { [group]: name, [profileLabel]: 'probe' });
  await eventually(async () => {
    const { metadata } = await tryPod<Pod>(cluster, probed, pod('probe'));
    assert.ok(metadata.annotations?.[statusAnnotation], 'the policy is not in force yet');
  });
}

/** A namespace whose pods get this policy, with the facts that the webhook would know. */
export async function governed(
  cluster: Cluster,
  name: string,
  policyName: string,
  { labels, annotations }: NamespaceFacts,
): Promise<void> {
  await makeNamespace(cluster, name, { ...labels, [group]: policyName }, annotations);
}

/** A pod without what differs between two creations of it, to create it again or to compare it. */
export function plain({ metadata, spec }: Pod): Pod {
  const { namespace: _, uid: _u, creationTimestamp: _c, managedFields: _m, ...own } = copyOf(metadata);
  const { serviceAccountName, serviceAccount, ...rest } = copyOf(spec);
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...own, generateName: 'x-', name: 'x' }, spec: rest };
}

/** The pod as the API server stores it in a namespace, or its message if it refuses the pod. */
export async function stored(cluster: Cluster, where: string, object: Pod): Promise<Pod | string> {
  try {
    return plain(await tryPod<Pod>(cluster, where, plain(object)));
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

/** Exemptions of which the match conditions tell, so that the API server asks nobody about a pod without a status. */
const unasked = ['host-network', 'windows', 'network-daemonset', 'opted-out'];

export interface Comparison {
  decision: Decision;
  /** The pod without cni-gate, by the webhook alone, and by the policy alone. */
  bare: Pod;
  byWebhook: Pod;
  byPolicy: Pod;
  /** The reason in the mark. */
  left: LeftReason | undefined;
}

/**
 * Creates a pod three times. Returns the API server's message if it refuses the pod itself.
 *
 * @param where a namespace that the policy governs
 */
export async function compare(
  cluster: Cluster,
  where: string,
  object: Pod,
  context: MutateContext,
  request: Record<string, unknown> = {},
): Promise<Comparison | string> {
  const bare = await stored(cluster, plainNamespace, object);
  if (typeof bare === 'string') return bare;
  const { decision, patch } = await answerTo(bare, context, request);
  const isAsked = bare.metadata.annotations?.[statusAnnotation] !== undefined || !isUnasked(decision, bare);
  const changed = isAsked && patch.length > 0;
  const byWebhook = changed ? await stored(cluster, plainNamespace, patched(bare, patch)) : bare;
  const byPolicy = await stored(cluster, where, bare);
  assert.ok(typeof byPolicy !== 'string' && typeof byWebhook !== 'string', `${byPolicy} / ${byWebhook}`);
  const status = readStatus(byPolicy);
  return { decision, bare, byWebhook, byPolicy, left: status?.left as LeftReason | undefined };
}

const isUnasked = ({ reason }: Decision, { metadata }: Pod): boolean =>
  unasked.includes(reason) || metadata.labels?.[profileLabel] === 'none';

/**
 * Asserts that the policy alone stores what the webhook alone stores, or that it leaves the pod with the reason that
 * `needsServer` expects, and with no other change.
 */
export function assertEqualOrLeft(
  { decision, bare, byWebhook, byPolicy, left }: Comparison,
  facts: NamespaceFacts,
  policy: Policy,
): void {
  const given = JSON.stringify({ bare, facts });
  if (left === undefined) {
    assert.deepEqual(byPolicy, byWebhook, given);
    assert.notEqual(decision.outcome, 'refused', given);
    return;
  }
  assert.equal(left, needsServer(bare, facts, policy), given);
  const withoutStatus = ({ metadata, ...rest }: Pod): object => {
    const { [statusAnnotation]: _, ...annotations } = metadata.annotations ?? {};
    return { ...rest, metadata: { ...metadata, annotations } };
  };
  assert.deepEqual(withoutStatus(byPolicy), withoutStatus(bare), given);
}
