import assert from 'node:assert/strict';
import type { Decision, MutateContext } from '../../../webhook/admission/mutate.ts';
import type { NamespaceFacts } from '../../../webhook/core/facts/namespace.ts';
import type { Pod } from '../../../webhook/core/facts/pod.ts';
import { readStatus } from '../../../webhook/core/facts/status-annotation.ts';
import { matchConstraints, namespaceSelector } from '../../../webhook/core/policies/conditions.ts';
import { type LeftReason, needsServer } from '../../../webhook/core/policies/left.ts';
import { policyObjects } from '../../../webhook/core/policies/policy.ts';
import type { Policy } from '../../../webhook/core/profiles/policy.ts';
import { profileLabel, statusAnnotation } from '../../../webhook/lib/names.ts';
import { answerTo, patched } from '../../support/answers.ts';
import { ApiError } from '../harness/api.ts';
import type { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';
import { namespace, pod } from '../harness/objects.ts';
import { tryPod } from './overlay.ts';

/** The namespace label that selects a policy. The label's value is the policy's name. */
const group = 'group';

/** A namespace in which no policy and no webhook of cni-gate is called. */
export const plainNamespace = 'plain';

const registration = '/apis/admissionregistration.k8s.io/v1/';

/**
 * Installs the policy for the namespaces with the label `group: NAME`, and waits until it is in force.
 *
 * @param reinvocationPolicy with `Never`, no second call corrects what the first one did wrong
 */
export async function installPolicy(
  cluster: Cluster,
  policy: Policy,
  name: string,
  reinvocationPolicy: 'IfNeeded' | 'Never' = 'IfNeeded',
): Promise<void> {
  const [object, binding] = policyObjects(policy);
  const ofGroup = { ...namespaceSelector, matchLabels: { [group]: name } };
  const constraints = { ...matchConstraints, namespaceSelector: ofGroup };
  const spec = { ...object?.spec, reinvocationPolicy, matchConstraints: constraints };
  await cluster.api.post(`${registration}mutatingadmissionpolicies`, { ...object, metadata: { name }, spec });
  const own = { ...binding, metadata: { name }, spec: { policyName: name } };
  await cluster.api.post(`${registration}mutatingadmissionpolicybindings`, own);
  await governed(cluster, `${name}-probe`, name, { labels: { [profileLabel]: 'probe' } });
  await eventually(async () => {
    const { metadata } = await tryPod<Pod>(cluster, `${name}-probe`, pod('probe'));
    assert.ok(metadata.annotations?.[statusAnnotation], 'the policy is not in force yet');
    // to compile a policy, the API server needs a second of processor time, and tests install dozens of policies
  }, 200);
}

/** Creates or changes a namespace whose pods get this policy. @param facts the namespace's labels and annotations */
export async function governed(
  cluster: Cluster,
  name: string,
  policyName: string,
  { labels, annotations = {} }: NamespaceFacts,
): Promise<void> {
  const object = namespace(name, { ...labels, [group]: policyName }) as { metadata: object };
  const given = { ...object, metadata: { ...object.metadata, annotations } };
  try {
    await cluster.api.post('/api/v1/namespaces', given);
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
    await cluster.api.patch(`/api/v1/namespaces/${name}`, given);
  }
  await cluster.api.until(`/api/v1/namespaces/${name}/serviceaccounts`, () => true);
}

/** A pod without the fields that differ each time it is created. The result can be created again, or compared. */
export function plain({ metadata, spec, status }: Pod): Pod {
  const {
    namespace: _n,
    uid: _u,
    creationTimestamp: _c,
    managedFields: _m,
    generateName: _g,
    ...own
  } = metadata;
  const { serviceAccountName: _s, serviceAccount: _a, ...rest } = spec;
  const { qosClass } = (status ?? {}) as { qosClass?: string };
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...own, name: 'x' },
    spec: rest,
    status: { qosClass },
  };
  return JSON.parse(JSON.stringify(object).replaceAll(/kube-api-access-\w{5}/g, 'kube-api-access-abcde'));
}

/** The pod as the API server stores it in a namespace, or the API server's message if it refuses the pod. */
export async function stored(cluster: Cluster, where: string, object: Pod): Promise<Pod | string> {
  try {
    return plain(await tryPod<Pod>(cluster, where, plain(object)));
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

/**
 * Exemptions in the match conditions. Without a status annotation, neither policy nor webhook is called.
 */
const unasked = ['not-opted-in', 'host-network', 'windows', 'opted-out'];

export interface Comparison {
  /** The pod as the API server stores it without cni-gate. */
  bare: Pod;
  byPolicy: Pod;
  /** The pod as stored with the webhook alone; undefined if the policy left the pod to the webhook. */
  byWebhook: Pod | undefined;
  decision: Decision;
  /** The webhook's answer to the pod without cni-gate. */
  answered: Pod;
}

/**
 * Creates a pod three times: without cni-gate, with the policy alone, and with the webhook alone. Returns the API
 * server's message if it refuses the pod even without cni-gate.
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
  const byPolicy = await stored(cluster, where, bare);
  assert.ok(typeof byPolicy !== 'string', `${byPolicy}: ${JSON.stringify(bare)}`);
  const { decision, patch } = answerTo(bare, context, request);
  const answered = patched(bare, patch);
  if (reasonOf(byPolicy) !== undefined) return { bare, byPolicy, byWebhook: undefined, decision, answered };
  const isAsked = hasStatus(bare) ? decision.reason !== 'not-opted-in' : !unasked.includes(decision.reason);
  const changed = isAsked ? answered : bare;
  const byWebhook = patch.length > 0 ? await stored(cluster, plainNamespace, changed) : bare;
  assert.ok(typeof byWebhook !== 'string', `${byWebhook}: ${JSON.stringify(bare)}`);
  return { bare, byPolicy, byWebhook, decision, answered };
}

export const hasStatus = ({ metadata }: Pod): boolean =>
  metadata.annotations?.[statusAnnotation] !== undefined;

/** The reason in the status annotation of a pod that the policy left to the webhook. */
export const reasonOf = (object: Pod): LeftReason | undefined =>
  readStatus(object)?.left as LeftReason | undefined;

/**
 * Asserts that the API server stores the same pod with the policy alone as with the webhook alone. If the policy leaves
 * the pod to the webhook, asserts that the annotation has the reason that `needsServer` expects, and that nothing else
 * changed.
 */
export function assertEqualOrLeft(
  { bare, byPolicy, byWebhook, decision }: Comparison,
  facts: NamespaceFacts,
  policy: Policy,
): void {
  const given = JSON.stringify({ bare, facts });
  if (byWebhook !== undefined) {
    assert.deepEqual(byPolicy, byWebhook, given);
    assert.notEqual(decision.outcome, 'refused', given);
    return;
  }
  assert.equal(reasonOf(byPolicy), needsServer(bare, facts, policy), given);
  assert.deepEqual(withoutStatus(byPolicy), withoutStatus(bare), given);
}

function withoutStatus({ metadata, ...rest }: Pod): object {
  const { [statusAnnotation]: _, ...annotations } = metadata.annotations ?? {};
  return { ...rest, metadata: { ...metadata, annotations } };
}
