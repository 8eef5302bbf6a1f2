import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { answerTo } from '../../../support/answers.ts';
import {
  type Change,
  changed,
  contextFor,
  injected,
  refused,
  refusedWithRechecks,
  refusedWithWitness,
  taken,
} from '../../../support/changed-injections.ts';
import { assertSettled, assertSound } from '../../../support/invariants.ts';

/** Asserts that a call after a change restores the init container or, if `isRestored` is false, changes nothing. */
function callAfter(change: Change, profile: string, isRestored: boolean): void {
  const context = contextFor(profile);
  const before = injected(profile);
  const pod = changed(before, change);
  const answer = answerTo(pod, context);
  assert.equal(answer.patch.length > 0, isRestored);
  const after = assertSound(pod, answer);
  assertSettled(after, answer, (asked) => answerTo(asked, context));
  if (isRestored) assert.deepEqual(after.spec.initContainers?.[0], before.spec.initContainers?.[0]);
}

suite('what another webhook changes in an injection, a later call restores', () => {
  for (const [what, change] of refused) test(what, () => callAfter(change, 'cilium.multus', true));
  for (const [what, change] of refusedWithWitness) test(what, () => callAfter(change, 'cilium.seen', true));
  for (const [what, change] of refusedWithRechecks)
    test(what, () => callAfter(change, 'cilium.watched', true));

  // changes that the policy does not check: it ignores resources, and the API server itself refuses the second change
  const more: [what: string, change: Change][] = [
    [
      'a limit that changes the QoS class',
      (_, it) => Object.assign(it, { resources: { limits: { cpu: 1 } } }),
    ],
    ['privileges alone', (_, it) => Object.assign(it.securityContext ?? {}, { privileged: true })],
  ];
  for (const [what, change] of more) test(what, () => callAfter(change, 'cilium.multus', true));
});

suite('what does not change the proof stays', () => {
  for (const [what, change, restored] of taken)
    test(what, () => callAfter(change, 'cilium.multus', restored !== undefined));
});

test('an exempt pod loses an injection, except a mirror pod, which nothing may change', () => {
  const context = contextFor('cilium');
  const { metadata, spec } = injected('cilium');
  const annotations = { ...metadata.annotations, 'kubernetes.io/config.mirror': 'hash' };
  const mirror = { metadata: { ...metadata, annotations }, spec };
  assert.deepEqual(answerTo(mirror, context).patch, []);
  const { patch } = answerTo({ metadata, spec: { ...spec, hostNetwork: true } }, context);
  assert.ok(patch.some(({ op, path }) => op === 'remove' && path.startsWith('/spec/initContainers')));
});

test('proof.mode warn is recorded, for the policy over the final pod', () => {
  const { metadata } = injected('cilium', { mode: 'warn' });
  assert.match(
    metadata.annotations?.['cni-gate.io/status'] ?? '',
    /"chosenBy":"namespace","mode":"warn","profiles":/,
  );
});
