import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mutate } from '../../../webhook/admission/mutate.ts';
import { decodePlacement } from '../../../webhook/admission/placement.ts';
import { reviewNamespace } from '../../../webhook/admission/review-namespace.ts';
import { FixedNamespaces } from '../../../webhook/core/facts/namespace.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import { policyOf } from '../../support/configurations.ts';
import { namespaceReview, namespaceWith } from '../../support/namespace-reviews.ts';
import { recorded } from '../../support/reviews.ts';

/** The values with which the test replaces each value of a review. */
const odd: unknown[] = [
  ...[null, true, 0, -1, 1e300, '', 'x', '__proto__'],
  ...[[], [null], [[]], ['x'], [1], {}, { x: null }, { name: null }, [{ name: 'x' }]],
];

function placesIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...path, key]))];
}

function withOdd(value: unknown, [key, ...rest]: string[], put: unknown): unknown {
  if (key === undefined) return put;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[key] = withOdd(copy[key], rest, put);
  return copy;
}

const contextOf = (profile: string) => ({
  policy: policyOf({}),
  namespaces: new FixedNamespaces(new Map([['shop', { 'cni-gate.io/profile': profile }]])),
});
const context = contextOf('cilium.linkerd.multus');
/** A context with fewer profiles, in which a second call removes the injected volume. */
const without = contextOf('cilium');

/** A review of an injected pod, so that the comparison with the earlier injection is tested too. */
function injected(): unknown {
  const review = recorded('pod-meshed');
  review.request.namespace = 'shop';
  const pod = review.request.object;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    'k8s.v1.cni.cncf.io/networks': '[{"name":"lan"}]',
  };
  const { request } = mutate(review, context);
  return { ...review, request: { ...review.request, object: request.pod } };
}

function onlyKnownErrors(call: () => unknown, what: string): void {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof CniGateError && error.code !== 'CNI_GATE_INTERNAL', `${what}: ${error}`);
  }
}

test('an odd value in any field: an answer or an error, never a defect', {
  timeout: 120_000,
}, () => {
  const reviews: [string, (body: unknown) => unknown, unknown][] = [
    ['mutate', (body) => mutate(body, context), injected()],
    ['mutate without Multus', (body) => mutate(body, without), injected()],
    ['gate', decodePlacement, recorded('binding-deployment-web')],
    ['gate of a pod', decodePlacement, injected()],
    ['namespaces', (body) => reviewNamespace(body, context.policy), namespaceReview(namespaceWith('likerd'))],
  ];
  for (const [webhook, answer, review] of reviews) {
    for (const place of placesIn(review)) {
      for (const put of odd) {
        const body = withOdd(review, place, put);
        onlyKnownErrors(() => answer(body), `${webhook}: ${JSON.stringify(put)} at ${place.join('.')}`);
      }
    }
  }
});
