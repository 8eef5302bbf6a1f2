import type { Operation } from 'fast-json-patch';
import type { AdmissionReview } from '../../admission/review.ts';
import type { Outcome } from '../../inject/decide.ts';
import { readStatus } from '../../inject/status-annotation.ts';
import { CniGateError, messageOf } from '../../lib/errors.ts';
import { statusAnnotation } from '../../lib/names.ts';
import type { Verdict } from '../model.ts';
import { fieldsOf, isObject } from '../values.ts';
import { pointer } from './pointer.ts';

const outcomes: ReadonlySet<string> = new Set<Outcome>([
  'injected',
  'updated',
  'current',
  'removed',
  'skipped',
  'refused',
  'warned',
]);

/**
 * Reads an answer. Outcome and reason are in its audit annotations; if a server writes none, they follow from what it
 * allows and patches.
 *
 * @param body the call that was answered
 * @throws CniGateError CNI_GATE_SERVER if it does not answer the request, or its patch is invalid
 */
export function verdictOf(answer: AdmissionReview, body: unknown): Verdict {
  const { uid, object } = fieldsOf(fieldsOf(body).request);
  const response = fieldsOf(answer.response);
  if (response.uid !== uid || typeof response.allowed !== 'boolean') {
    throw wrong(
      `expected a response to uid ${String(uid)} with "allowed" in it, got uid ${String(response.uid)}`,
    );
  }
  const operations = patchOf(response.patch);
  const audit = fieldsOf(response.auditAnnotations);
  const { outcome, reason, profiles } = audit;
  const { message } = fieldsOf(response.status);
  return {
    outcome: isOutcome(outcome)
      ? outcome
      : !response.allowed
        ? 'refused'
        : operations.length > 0
          ? 'injected'
          : 'skipped',
    reason: typeof reason === 'string' ? reason : 'not given',
    profiles: typeof profiles === 'string' && profiles !== '' ? profiles.split('.') : [],
    checks: response.allowed ? checksOf(object, operations) : [],
    warnings: Array.isArray(response.warnings) ? response.warnings.map(String) : [],
    operations,
    ...(!response.allowed && { message: typeof message === 'string' ? message : 'refused without a reason' }),
    answer,
  };
}

const isOutcome = (value: unknown): value is Outcome => typeof value === 'string' && outcomes.has(value);

/** The checks in the admitted pod's status annotation, which is in the patch or already on the pod. */
function checksOf(pod: unknown, operations: readonly Operation[]): string[] {
  const { annotations } = fieldsOf(fieldsOf(pod).metadata);
  let text = fieldsOf(annotations)[statusAnnotation];
  const path = pointer(['metadata', 'annotations']);
  for (const operation of operations) {
    const value = 'value' in operation ? operation.value : undefined;
    if (operation.path === path) text = fieldsOf(value)[statusAnnotation];
    if (operation.path === `${path}${pointer([statusAnnotation])}`) text = value;
  }
  if (typeof text !== 'string') return [];
  const { checks } = readStatus({ metadata: { annotations: { [statusAnnotation]: text } } }) ?? {};
  return Array.isArray(checks) ? checks.map(String) : [];
}

function patchOf(patch: unknown): Operation[] {
  if (patch === undefined || patch === null) return [];
  try {
    const value: unknown = JSON.parse(Buffer.from(String(patch), 'base64').toString());
    if (!Array.isArray(value) || !value.every(isOperation))
      throw new TypeError('it is not a list of operations');
    return value;
  } catch (error) {
    throw wrong(`its patch is not a JSON Patch: ${messageOf(error)}`);
  }
}

const isOperation = (value: unknown): value is Operation =>
  isObject(value) && typeof value.op === 'string' && typeof value.path === 'string';

const wrong = (message: string): CniGateError => new CniGateError('CNI_GATE_SERVER', message);
