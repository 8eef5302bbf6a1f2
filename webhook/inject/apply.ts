import jsonpatch from 'fast-json-patch';
import type { Pod } from '../admission/pod.ts';
import type { Policy } from '../config/policy.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { type Decision, refuse } from './decide.ts';

/**
 * Applies the decision's patch once, before it is sent: one that does not apply would fail the request whatever
 * the webhook's failurePolicy says. The pod is patched in place and is of no use for another decision afterwards;
 * a copy would cost as much as the whole request.
 *
 * @returns the decision, or a refusal in its place
 */
export function applyOnce(decision: Decision, pod: Pod, policy: Policy): Decision {
  if (decision.operations.length === 0) return decision;
  try {
    jsonpatch.applyPatch(pod, decision.operations, true, true);
    return decision;
  } catch (error) {
    const first = messageOf(error).split('\n')[0];
    const message = `the patch for this pod does not apply, so it was not sent: ${first}`;
    return refuse(policy, new CniGateError('CNI_GATE_PATCH_FAILED', message), undefined, decision.profile);
  }
}
