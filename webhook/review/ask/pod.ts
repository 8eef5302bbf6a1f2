import { randomUUID } from 'node:crypto';
import type { OwnerReference } from '../../admission/pod.ts';
import { reviewApiVersion, reviewKind } from '../../admission/review.ts';
import { CniGateError } from '../../lib/errors.ts';
import type { PodKind } from '../input/kinds.ts';
import { describe, type Fields, fieldsOf, isObject, valueAt } from '../values.ts';

/** References to an owner contain its uid (apimachinery `OwnerReference`), which it lacks before it is created. */
const noUid = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the pod that would be created for a manifest. From a template's metadata, its controller uses labels,
 * annotations and finalizers (kubernetes `pkg/controller/controller_utils.go`, GetPodFromTemplate). Labels that
 * controllers add, such as `pod-template-hash`, are omitted: the manifest has no place for them, so no patch could name
 * them.
 *
 * @param who the name of the object for messages
 * @throws CniGateError CNI_GATE_INPUT_SYNTAX if the manifest has no template
 */
export function podOf(kind: PodKind, object: Fields, namespace: string, who: string): Fields {
  if (!kind.template) {
    // admission judges what is not an object
    return isObject(object.metadata)
      ? { ...object, metadata: { ...object.metadata, namespace } }
      : { ...object };
  }
  const template = valueAt(object, kind.podPath);
  const where = kind.podPath.join('.');
  if (!isObject(template))
    throw wrong(`${who}: expected a pod template in ${where}, got ${describe(template)}`);
  const { metadata, spec } = template;
  if (metadata !== null && metadata !== undefined && !isObject(metadata)) {
    throw wrong(`${who}: expected an object in ${where}.metadata, got ${describe(metadata)}`);
  }
  const { labels, annotations, finalizers } = fieldsOf(metadata);
  const { name } = fieldsOf(object.metadata);
  const maker = typeof name === 'string' ? name : '';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${maker}-`,
      namespace,
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ...(finalizers !== undefined && { finalizers }),
      ...(kind.owner && { ownerReferences: [withUid(kind.owner(maker))] }),
    },
    spec: kind.namesContainers ? withNames(spec) : spec,
  };
}

/** The pod spec with a name for each container that has none. */
function withNames(spec: unknown): unknown {
  if (!isObject(spec) || !Array.isArray(spec.containers)) return spec;
  const containers = spec.containers.map((container, index) =>
    isObject(container) && container.name === undefined
      ? { name: `container-${index}`, ...container }
      : container,
  );
  return { ...spec, containers };
}

const withUid = (reference: OwnerReference): Fields => ({
  ...reference,
  uid: noUid,
  blockOwnerDeletion: true,
});

const wrong = (message: string): CniGateError => new CniGateError('CNI_GATE_INPUT_SYNTAX', message);

const podKind = { group: '', version: 'v1', kind: 'Pod' };
const podResource = { group: '', version: 'v1', resource: 'pods' };

/**
 * The body of the API server's admission call for the creation of a pod
 * (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#request).
 */
export function createReview(pod: Fields, namespace: string): Fields {
  const { name } = fieldsOf(pod.metadata);
  return {
    apiVersion: reviewApiVersion,
    kind: reviewKind,
    request: {
      uid: randomUUID(),
      kind: podKind,
      resource: podResource,
      requestKind: podKind,
      requestResource: podResource,
      ...(typeof name === 'string' && { name }),
      namespace,
      operation: 'CREATE',
      userInfo: { username: 'cni-gate-review', groups: ['system:authenticated'] },
      object: pod,
      oldObject: null,
      dryRun: true,
      options: { apiVersion: 'meta.k8s.io/v1', kind: 'CreateOptions' },
    },
  };
}

/** A review from the input as a dry run, so that it changes nothing. */
export function asDryRun(review: Fields): Fields {
  const { request } = review;
  return typeof request === 'object' && request !== null
    ? { ...review, request: { ...fieldsOf(request), dryRun: true } }
    : review;
}
