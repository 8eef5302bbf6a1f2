import type { V1MutatingAdmissionPolicySpec } from '@kubernetes/client-node';
import { leftByThePolicy } from '../../core/policies/conditions.ts';
import { policyObjects } from '../../core/policies/policy.ts';
import { Policy } from '../../core/profiles/policy.ts';
import { installedPolicies } from '../../lib/names.ts';
import { validatorImage, version } from '../../lib/version.ts';
import type { InstallationFacts } from '../observe/installation.ts';
import type { Facts } from '../observe/observe.ts';
import {
  applyAgain,
  type CheckResult,
  failed,
  notKnown,
  passed,
  unknownConfiguration,
  warning,
} from './check-result.ts';
import { differences, plain } from './differences.ts';
import { leavesOut } from './registration.ts';

/* Compares the cluster's mutating policy with the one that cni-gate generates from the same configuration. */

/** The first Kubernetes 1.x with MutatingAdmissionPolicy v1. */
const leastMinor = 36;

const mayHavePolicies = ({ version: { found } }: Facts): boolean =>
  found !== undefined && (found.major > 1 || found.minor >= leastMinor);

/** Whether the installation has only the policies over pods, and no server. */
export function isProofOnly(facts: Facts): boolean {
  const { registered, installation } = facts;
  const { deployment, service, policies } = installation;
  const isAbsent = ({ found, unknown }: { found?: unknown; unknown?: unknown }): boolean =>
    !found && !unknown;
  const bindings = [policies.mutating.policy, policies.mutating.binding, policies.pods.binding];
  return (
    mayHavePolicies(facts) &&
    [registered.mutating, registered.validating].every((webhooks) => webhooks?.length === 0) &&
    [deployment, service].every(isAbsent) &&
    bindings.some(({ found }) => found !== undefined)
  );
}

/** Whether the mutating policy matches the configuration; undefined if Kubernetes is too old to have one. */
export function checkMutatingPolicy(facts: Facts): CheckResult | undefined {
  const { registered, installation, configuration } = facts;
  const { policy, binding } = installation.policies.mutating;
  const called = registered.mutating?.flatMap(({ matchConditions = [] }) => matchConditions) ?? [];
  const relies = isProofOnly(facts) || called.some(({ name }) => name === leftByThePolicy.name);
  if (!relies && !policy.found && !binding.found) return withoutPolicy(facts);
  const [name] = installedPolicies;
  const fault = (what: string, hint = applyAgain): CheckResult =>
    failed('CNI_GATE_POLICY', `MutatingAdmissionPolicy ${name}: ${what}`, hint);
  const lost = 'so it injects nothing';
  if (!policy.unknown && !policy.found) return fault(`it does not exist, ${lost}`);
  if (!binding.unknown && !binding.found) return fault(`its binding does not exist, ${lost}`);
  const [rules, bound] = [policy.found?.spec, binding.found?.spec];
  if (!rules || !bound) return notKnown(policy.unknown ?? binding.unknown ?? { why: '' }, true);
  const { policyName, matchResources, paramRef } = bound;
  if (policyName !== name || plain({ matchResources, paramRef }) !== undefined)
    return fault(`its binding ${leavesOut}`);
  if (configuration.trouble !== undefined) return unknownConfiguration;
  const expected = policyObjects(asInstalled(configuration.policy, installation, imageIn(rules)))[0]
    ?.spec as V1MutatingAdmissionPolicySpec;
  const [wanted, found] = [imageIn(expected), imageIn(rules)];
  if (wanted !== found)
    return fault(`it injects the image ${found}, and the rest of the installation says ${wanted}`, generate);
  // a policy without its match condition would be called for exempt pods
  const changes = differences(
    { ...expected, conditions: expected.matchConditions },
    { ...rules, conditions: rules.matchConditions ?? [] },
  );
  if (changes.length > 0)
    return fault(
      `its ${changes.join(', ')} are not those that cni-gate ${version} makes from ${configuration.source}`,
      generate,
    );
  if (relies) return passed('bound');
  return warning(
    'bound, but the webhook is called for every pod too, so an outage of cni-gate refuses all of them',
    'Apply the overlay strict-policies or permissive-policies, or delete the policies: guides/install.md',
  );
}

const generate =
  'Apply the overlay again. If the configuration sets proof or profiles, apply the output of "cni-gate policies ' +
  '--config FILE --image IMAGE" afterwards. If another release is installed, run the command of that release';

/** The result for an installation without a mutating policy: a recommendation, if Kubernetes is new enough. */
function withoutPolicy(facts: Facts): CheckResult | undefined {
  const { found } = facts.version;
  const { unknown } = facts.installation.policies.mutating.policy;
  if (!mayHavePolicies(facts)) return undefined;
  if (unknown) return notKnown(unknown);
  return warning(
    `the API server is ${found?.text} and could inject by itself, so that an outage of cni-gate refuses fewer pods`,
    'Apply the overlay strict-policies or permissive-policies (with Helm: policies: on)',
  );
}

/**
 * The configuration with the image that the installation sets, unless the configuration itself names one.
 * @param injected the image of the mutating policy, for an installation without anything that names an image
 */
function asInstalled(
  { configuration }: Policy,
  { deployment, policies }: InstallationFacts,
  injected: string,
): Policy {
  const { proof } = configuration;
  if (proof.image !== validatorImage) return new Policy(configuration);
  const validator = deployment.found?.spec?.template.spec?.initContainers?.find(
    ({ name }) => name === 'validator',
  );
  const images = policies.pods.policy.found?.spec?.variables?.find(({ name }) => name === 'images');
  const image =
    validator?.image ?? /'([^']*)'/.exec(images?.expression ?? '')?.[1] ?? injected.replaceAll('"', '');
  return new Policy({ ...configuration, proof: { ...proof, image } });
}

const imageIn = ({ variables }: V1MutatingAdmissionPolicySpec): string =>
  variables?.find(({ name }) => name === 'image')?.expression ?? 'none';
