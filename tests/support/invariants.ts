import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import jsonpatch, { type Operation } from 'fast-json-patch';
import { allContainers, type Pod } from '../../webhook/core/facts/pod.ts';
import type { Policy } from '../../webhook/core/profiles/policy.ts';
import { statusAnnotation, validatorContainer } from '../../webhook/lib/names.ts';
import { type Answer, copyOf, patched } from './answers.ts';
import { initContainerFirst, mountServiceAccount } from './between-calls.ts';
import { qosClass } from './qos.ts';
import { assertUntouched } from './untouched.ts';

const places = new Set(['injected', 'updated', 'current']);

/** Asserts what must be true of every answer, whatever its outcome. @returns the pod after the patch */
export function assertSound(given: Pod, { decision, response, patch }: Answer, policy?: Policy): Pod {
  const { outcome, reason } = decision;
  const pod = withoutReplaced(given, decision, policy);
  assert.equal(response.allowed, outcome !== 'refused');
  assert.equal(response.patchType, patch.length > 0 ? 'JSONPatch' : undefined);
  assert.equal(response.auditAnnotations?.outcome, outcome);
  assert.equal(response.auditAnnotations?.reason, reason);
  assertWarnings(response.warnings ?? []);
  assertLeast(given, patch);
  const after = patched(given, patch);
  // without our container of an earlier call, because another webhook may have changed the QoS class since
  const own = places.has(outcome) || outcome === 'removed' ? withoutOurs(pod) : pod;
  assert.equal(qosClass(after), qosClass(own), 'the QoS class changed');
  assertUntouched(pod, after);
  if (hasTokenOrNone(pod)) assert.ok(hasTokenOrNone(after), 'the API server mounts a token, and calls again');
  if (places.has(outcome)) {
    const first = after.spec.initContainers?.[0]?.name === validatorContainer;
    assert.equal(first, proves(after), 'our container is not first, or is there without a profile');
    assert.equal(hasOurs(after), first);
  }
  return after;
}

/** Asserts that another review of the pod changes nothing, or only moves our init container back to the first place. */
export function assertSettled(after: Pod, last: Answer, ask: (pod: Pod) => Answer): void {
  assert.deepEqual(ask(after).patch, [], 'the patched pod is patched again');
  if (!places.has(last.decision.outcome) || !hasOurs(after)) return;
  const behind = copyOf(after);
  initContainerFirst('latecomer')(behind);
  const { patch } = ask(behind);
  const move = { op: 'move', from: '/spec/initContainers/1', path: '/spec/initContainers/0' };
  assert.deepEqual(patch, [move], 'behind another init container, one move is enough');
}

function proves({ metadata }: Pod): boolean {
  const { checks }: { checks: string[] } = JSON.parse(metadata.annotations?.[statusAnnotation] ?? '');
  return checks.length > 0;
}

const hasOurs = (pod: Pod): boolean =>
  (pod.spec.initContainers ?? []).some(({ name }) => name === validatorContainer);

/** The pod without the init containers that its profiles replace, which the patch must remove. */
export function withoutReplaced(pod: Pod, { outcome, profiles }: Answer['decision'], policy?: Policy): Pod {
  if (!places.has(outcome) || policy?.proof.mode !== 'enforce') return pod;
  const replaced = profiles.flatMap((name) => policy.profiles.get(name)?.proof.replaces ?? []);
  const copy = copyOf(pod);
  const kept = copy.spec.initContainers?.filter(({ name }) => !replaced.some((one) => one === name));
  if (kept !== undefined) copy.spec.initContainers = kept;
  return copy;
}

/** The pod without our init container, which may have been injected for an earlier QoS class of the pod. */
function withoutOurs(pod: Pod): Pod {
  const copy = copyOf(pod);
  copy.spec.initContainers = (pod.spec.initContainers ?? []).filter(
    ({ name }) => name !== validatorContainer,
  );
  return copy;
}

/** Whether the ServiceAccount plugin would not change the containers, because they have a token or need none. */
function hasTokenOrNone(pod: Pod): boolean {
  const copy = copyOf(pod);
  mountServiceAccount(copy);
  const isOwn = pod.spec.automountServiceAccountToken !== false && !pod.spec.volumes?.some(isToken);
  return !isOwn && isDeepStrictEqual(allContainers(copy), allContainers(pod));
}

const isToken = ({ name }: { name: string }): boolean => name.startsWith('kube-api-access-');

/** Asserts the API server's limits for warnings: see `webhook/admission/respond.ts`. */
function assertWarnings(warnings: string[]): void {
  for (const text of warnings) assert.ok([...text].length <= 120, `a long warning: ${text}`);
  const bytes = warnings.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  assert.ok(bytes <= 4096, `${bytes} bytes of warnings`);
  assert.equal(new Set(warnings).size, warnings.length, 'a warning appears twice');
}

/** Asserts that each operation changes something, and that paths are unique, except for additions to a list's end. */
function assertLeast(pod: Pod, patch: Operation[]): void {
  const paths = patch.map(({ path }) => path).filter((path) => !path.endsWith('/-'));
  assert.equal(new Set(paths).size, paths.length, 'two operations on one path');
  let current = copyOf(pod);
  for (const operation of patch) {
    if (operation.op === 'replace') {
      const value: unknown = jsonpatch.getValueByPointer(current, operation.path);
      assert.ok(!isDeepStrictEqual(value, operation.value), `${operation.path} had this value before`);
    }
    if (operation.op === 'move') assert.notEqual(operation.from, operation.path);
    const next = patched(current, [operation]);
    assert.notDeepEqual(next, current, `${operation.op} ${operation.path} changes nothing`);
    current = next;
  }
}
