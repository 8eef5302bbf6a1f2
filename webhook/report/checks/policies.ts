import type { V1ValidatingAdmissionPolicyBindingSpec } from '@kubernetes/client-node';
import type { installedPolicies } from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import type { PolicyPair } from '../facts/installation.ts';
import { foundIn, unknownIn } from '../facts/observation.ts';
import { applyAgain, type Finding, failed, notKnown, passed } from './finding.ts';
import { changesOfPolicy, isNarrowed } from './registration.ts';

type PolicyName = (typeof installedPolicies)[number];

/** What is lost where a policy is not in force. */
const guards: Record<PolicyName, string> = {
  'pods.cni-gate.io': 'a pod whose init container another webhook removes is admitted',
  'service-account.cni-gate.io': 'only RBAC limits what the service account of cni-gate may write',
};

/**
 * Whether one of our policies is there with its binding, asks what the manifests ask, and denies.
 *
 * @param enforced whether pods have to be refused: with `proof.mode: warn` the policy over pods may only warn;
 *   undefined: not known
 */
export function checkPolicy(
  name: PolicyName,
  { policy, binding }: PolicyPair,
  enforced: boolean | undefined,
): Finding {
  const object = `Policy ${name}`;
  const fault = (what: string, hint = applyAgain): Finding =>
    failed('CNI_GATE_POLICY', `${object}: ${what}, so ${guards[name]}`, hint);
  if (policy === 'absent') return fault('it does not exist');
  if (binding === 'absent') return fault('its binding does not exist');
  const unknown = unknownIn(policy) ?? unknownIn(binding);
  if (unknown !== undefined) return notKnown({ ...unknown, why: `${object}: ${unknown.why}` }, true);
  const [rules, bound] = [foundIn(policy)?.spec, foundIn(binding)?.spec];
  if (rules === undefined || bound === undefined) return fault('it does not exist');
  const changes = changesOfPolicy(name, rules);
  if (changes.length > 0) {
    const other = `${applyAgain}. If another release is installed, run the command of that release`;
    return fault(`its ${changes.join(', ')} are not those of cni-gate ${version}`, other);
  }
  const loose = bindingFault(name, bound, enforced !== false);
  if (loose !== undefined) {
    const isByMode = enforced === undefined && bindingFault(name, bound, false) === undefined;
    if (!isByMode) return fault(loose);
    return notKnown({ why: `${object}: ${loose}; whether that is wanted, the configuration says` });
  }
  const open =
    rules.failurePolicy === 'Ignore' ? '; failurePolicy Ignore: an error in it refuses no pod' : '';
  return passed(`bound: ${bound.validationActions?.join(', ')}${open}`);
}

function bindingFault(
  name: PolicyName,
  bound: V1ValidatingAdmissionPolicyBindingSpec,
  enforced: boolean,
): string | undefined {
  const { policyName, validationActions: actions = [] } = bound;
  if (policyName !== name) return `its binding is one of policy ${policyName}`;
  if (isNarrowed(bound)) return 'its binding has matchResources, which leave objects out';
  const mayWarn = name === 'pods.cni-gate.io' && !enforced;
  if (actions.includes('Deny') || mayWarn) return undefined;
  return `its binding does not deny (validationActions: ${actions.join(', ') || 'none'})`;
}
