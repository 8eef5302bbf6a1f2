import { randomUUID } from 'node:crypto';
import { reviewApiVersion, reviewKind } from '../../admission/review.ts';
import { type Fields, fieldsOf } from '../values.ts';

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
