import type { V1MutatingAdmissionPolicySpec, V1ValidatingAdmissionPolicySpec } from '@kubernetes/client-node';
import { leftByThePolicy } from '../../core/policies/conditions.ts';
import { policyObjects } from '../../core/policies/policy.ts';
import { Policy } from '../../core/profiles/policy.ts';
import { isSince } from '../../leader/steering/version.ts';
import { installedPolicies } from '../../lib/names.ts';
import { validatorImage, version } from '../../lib/version.ts';
import type { InstallationFacts, PolicyPair } from '../observe/installation.ts';
import type { Observation } from '../observe/observation.ts';
import type { Facts } from '../observe/observe.ts';
import { objectsIn } from '../observe/rights.ts';
import {
  anotherRelease,
  applyAgain,
  type CheckResult,
  failed,
  known,
  knownPolicy,
  notKnown,
  passed,
  Settled,
  warning,
} from './check-result.ts';
import { differences, plain } from './differences.ts';

/*
 * Compares the cluster's policies: the validating ones with the manifests of this release, and the mutating one with
 * the policy that cni-gate generates from the same configuration.
 */

/** The specs of the validating policies in the manifests. */
export const expectedPolicies: Record<'pods' | 'serviceAccount', V1ValidatingAdmissionPolicySpec> = {
  pods: objectsIn('policy-pods')[0].spec,
  serviceAccount: objectsIn('policy-service-account')[0].spec,
};

/** The first minor version of Kubernetes with MutatingAdmissionPolicy v1. */
const leastMinor = 36;

const mayHavePolicies = ({ version: { found } }: Facts): boolean =>
  found !== undefined && isSince(found, leastMinor);

const isAbsent = ({ found, unknown }: Observation<unknown>): boolean => !found && !unknown;

/** Whether the installation has only the policies over pods, and no server. */
export function isProofOnly(facts: Facts): boolean {
  const { registered, installation } = facts;
  const { deployment, service, policies } = installation;
  const bindings = [policies.mutating.policy, policies.mutating.binding, policies.pods.binding];
  return (
    mayHavePolicies(facts) &&
    [registered.mutating, registered.validating].every((webhooks) => webhooks?.length === 0) &&
    [deployment, service].every(isAbsent) &&
    bindings.some(({ found }) => found !== undefined)
  );
}

/** The specs of a policy and its binding. @throws Settled if one is missing or not known */
function specsOf<P, B>({ policy, binding }: PolicyPair<P, B>, fault: (what: string) => CheckResult): [P, B] {
  if (isAbsent(policy)) throw new Settled(fault('it does not exist'));
  if (isAbsent(binding)) throw new Settled(fault('its binding does not exist'));
  const [rules, bound] = [known(policy, true)?.spec, known(binding, true)?.spec];
  if (!rules || !bound) throw new Settled(notKnown({ why: '' }, true));
  return [rules, bound];
}

/** A binding's fields. `plain` removes empty selectors, which the API server may fill in. */
type Binding = { policyName?: string; matchResources?: unknown; paramRef?: unknown };
const leavesOut = ({ policyName, matchResources, paramRef }: Binding, name: string): boolean =>
  policyName !== name || plain({ matchResources, paramRef }) !== undefined;

/** What is wrong with a binding that does not apply its policy to all objects. */
const leaving =
  'its binding is of another policy, or has matchResources or paramRef, which leave objects out';

/** Whether the policy over pods is in force. With `proof.mode: warn`, a binding that only warns is accepted. */
export const checkPodsPolicy = (facts: Facts): CheckResult =>
  policyOf(facts, 'pods', 'a pod whose init container another webhook removes is admitted');

/** Whether the policy over our service account is in force. */
export const checkAccountPolicy = (facts: Facts): CheckResult =>
  policyOf(facts, 'serviceAccount', 'only RBAC limits what the service account of cni-gate may write');

/** Whether one of our policies and its binding are as in the manifests. @param lost what happens if they are not */
function policyOf(
  { installation, configuration: { trouble, policy } }: Facts,
  kind: 'pods' | 'serviceAccount',
  lost: string,
): CheckResult {
  const name = installedPolicies[kind === 'pods' ? 0 : 1];
  const fault = (what: string, hint = applyAgain): CheckResult =>
    failed('CNI_GATE_POLICY', `Policy ${name}: ${what}, so ${lost}`, hint);
  const [rules, bound] = specsOf(installation.policies[kind], fault);
  const changes = differences(partsOf(expectedPolicies[kind]), partsOf(rules));
  if (changes.length > 0) {
    const what = `its ${changes.join(', ')} are not those of cni-gate ${version}`;
    return fault(what, `${applyAgain}. ${anotherRelease}`);
  }
  const images = rules.variables?.find((variable) => variable.name === 'images')?.expression;
  if (images !== undefined && !imageList.test(images))
    return fault("its variable images is not a list of images, such as ['example/validator:1']");
  if (leavesOut(bound, name)) return fault(leaving);
  const actions = bound.validationActions ?? [];
  const loose = `its binding does not deny (validationActions: ${actions.join(', ') || 'none'})`;
  if (!actions.includes('Deny') && kind === 'pods' && trouble)
    return notKnown({
      why: `Policy ${name}: ${loose}; whether that is right depends on the configuration, which is not known`,
    });
  if (!actions.includes('Deny') && !(kind === 'pods' && policy.proof.mode === 'warn')) return fault(loose);
  const ignores = rules.failurePolicy === 'Ignore';
  const open = ignores ? '; failurePolicy Ignore: an error in it refuses no pod' : '';
  return passed(`bound: ${actions.join(', ')}${open}`);
}

/** A list of string literals in CEL. Each installation sets its images, but an expression could permit any image. */
const imageList = /^\s*\[\s*('[^'\\]*'|"[^"\\]*")(\s*,\s*('[^'\\]*'|"[^"\\]*"))*\s*,?\s*\]\s*$/;

/** The fields of a policy that are compared, without the variable `images`, which each installation sets. */
const partsOf = (spec: V1ValidatingAdmissionPolicySpec) => ({
  paramKind: spec.paramKind,
  matchConstraints: spec.matchConstraints,
  matchConditions: spec.matchConditions,
  variables: spec.variables?.filter(({ name }) => name !== 'images'),
  validations: spec.validations?.map(({ expression }) => expression),
});

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
  const pair = installation.policies.mutating;
  const [rules, bound] = specsOf(pair, (what) => fault(`${what}, so it injects nothing`));
  if (leavesOut(bound, name)) return fault(leaving);
  const configured = asInstalled(knownPolicy(configuration), installation, imageIn(rules));
  const expected = policyObjects(configured)[0]?.spec as V1MutatingAdmissionPolicySpec;
  const [wanted, found] = [imageIn(expected), imageIn(rules)];
  if (wanted !== found)
    return fault(`it injects the image ${found}, and the rest of the installation says ${wanted}`, generate);
  // a policy without its match condition would be called for exempt pods
  const changes = differences(
    { ...expected, conditions: expected.matchConditions },
    { ...rules, conditions: rules.matchConditions ?? [] },
  );
  const made = `that cni-gate ${version} makes from ${configuration.source}`;
  if (changes.length > 0) return fault(`its ${changes.join(', ')} are not those ${made}`, generate);
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
  if (!mayHavePolicies(facts)) return undefined;
  known(facts.installation.policies.mutating.policy);
  return warning(
    `the API server is ${facts.version.found?.gitVersion} and could inject the proof itself, so that an outage of cni-gate would refuse fewer pods`,
    'Apply the overlay strict-policies or permissive-policies (with Helm: policies: on)',
  );
}

/**
 * The configuration with the image that the installation sets, unless the configuration itself names one.
 * @param injected the image of the mutating policy, used if nothing else in the installation names an image
 */
function asInstalled(
  { configuration }: Policy,
  { deployment, policies }: InstallationFacts,
  injected: string,
): Policy {
  const { proof } = configuration;
  if (proof.image !== validatorImage) return new Policy(configuration);
  const inits = deployment.found?.spec?.template.spec?.initContainers;
  const validator = inits?.find(({ name }) => name === 'validator');
  const images = policies.pods.policy.found?.spec?.variables?.find(({ name }) => name === 'images');
  const image =
    validator?.image ?? /['"](.*?)['"]/.exec(images?.expression ?? '')?.[1] ?? injected.replaceAll('"', '');
  return new Policy({ ...configuration, proof: { ...proof, image } });
}

const imageIn = ({ variables }: V1MutatingAdmissionPolicySpec): string =>
  variables?.find(({ name }) => name === 'image')?.expression ?? 'none';
