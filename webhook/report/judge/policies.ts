import { leftByThePolicy } from '../../core/policies/conditions.ts';
import { policyObjects } from '../../core/policies/policy.ts';
import { Policy } from '../../core/profiles/policy.ts';
import { installedPolicies } from '../../lib/names.ts';
import { validatorImage } from '../../lib/version.ts';
import type { PolicyPair, PolicySpec } from '../observe/installation.ts';
import { isAbsent } from '../observe/observation.ts';
import type { Facts } from '../observe/observe.ts';
import { isProofOnly } from './installation.ts';
import { conditionsFor, differences, objectIn, plain } from './manifests.ts';
import { applyAgain, type Finding, failed, known, knownPolicy, Settled, warning } from './row.ts';

/*
 * Compares the cluster's policies: the validating ones with the manifests of this release, and the mutating one with
 * the policy that cni-gate generates from the installation's configuration.
 */

const [ofPods, ofAccount] = installedPolicies;

/** The specs of the validating policies in the manifests. */
export const expectedPolicies: Record<'pods' | 'serviceAccount', PolicySpec> = {
  pods: objectIn('policy-pods').spec,
  serviceAccount: objectIn('policy-service-account').spec,
};

const fault = (name: string, what: string, hint = applyAgain): Finding =>
  failed('CNI_GATE_POLICY', `${name}: ${what}`, hint);

/** The specs of a policy and its binding. @throws Settled unless both exist and no object is left out */
function specsOf({ policy, binding }: PolicyPair, name: string) {
  const [rules, bound] = [known(policy)?.spec, known(binding)?.spec];
  if (!rules) throw new Settled(fault(name, 'the policy does not exist'));
  if (!bound) throw new Settled(fault(name, 'its binding does not exist'));
  const { policyName, matchResources, paramRef } = bound;
  const leaving =
    'its binding is of another policy, or has matchResources or paramRef, which leave objects out';
  // `plain` removes empty selectors, which the API server may fill in
  if (policyName !== name || plain({ matchResources, paramRef })) throw new Settled(fault(name, leaving));
  return { rules, bound };
}

/**
 * Checks a validating policy. `pods` refuses a pod whose init container another webhook removed; with
 * `proof.mode: warn`, its binding may only warn. `serviceAccount` limits what our service account may write.
 */
export const checkValidating = (kind: 'pods' | 'serviceAccount') => (facts: Facts) => {
  const { installation, configuration } = facts;
  const name = kind === 'pods' ? ofPods : ofAccount;
  const { rules, bound } = specsOf(installation.policies[kind], name);
  const expected = expectedPolicies[kind];
  const conditions = conditionsFor(expected.matchConditions, configuration.policy);
  const changes = differences(partsOf({ ...expected, matchConditions: conditions }), partsOf(rules));
  if (changes.includes('matchConditions')) knownPolicy(configuration);
  if (changes.length > 0) return [fault(name, `its ${changes.join(', ')} are not those of this release`)];
  const images = rules.variables?.find((variable) => variable.name === 'images')?.expression;
  if (images !== undefined && !imageList.test(images))
    return [fault(name, "its variable images is not a list of images, such as ['example/validator:1']")];
  const actions = bound.validationActions ?? [];
  if (actions.includes('Deny')) return [];
  if (kind === 'pods' && knownPolicy(configuration).proof.mode === 'warn') return [];
  return [fault(name, `its binding does not deny (validationActions: ${actions.join(', ') || 'none'})`)];
};

/** A list of string literals in CEL. Installations may set any list; an expression could permit any image. */
const imageList = /^\s*\[\s*('[^'\\]*'|"[^"\\]*")(\s*,\s*('[^'\\]*'|"[^"\\]*"))*\s*,?\s*\]\s*$/;

/** The fields of a policy that are compared, without the variable `images`, which each installation sets. */
const partsOf = (spec: PolicySpec) => ({
  paramKind: spec.paramKind,
  matchConstraints: spec.matchConstraints,
  matchConditions: spec.matchConditions,
  variables: spec.variables?.filter(({ name }) => name !== 'images'),
  validations: spec.validations?.map(({ expression }) => expression),
});

/** Whether the mutating policy matches the configuration; undefined if the installation has none and needs none. */
export function checkMutatingPolicy(facts: Facts): Finding[] | undefined {
  const { installation, configuration } = facts;
  const { policy, binding } = installation.policies.mutating;
  const called = installation.mutating.found?.flatMap(({ matchConditions = [] }) => matchConditions) ?? [];
  const relies = isProofOnly(facts) || called.some(({ name }) => name === leftByThePolicy.name);
  if (!relies && isAbsent(policy) && isAbsent(binding)) return undefined;
  const { rules } = specsOf(installation.policies.mutating, ofPods);
  const configured = asInstalled(knownPolicy(configuration), facts, imageIn(rules));
  const expected = policyObjects(configured)[0]?.spec as PolicySpec;
  const [wanted, found] = [imageIn(expected), imageIn(rules)];
  const image = `it injects the image ${found}, and the rest of the installation says ${wanted}`;
  if (wanted !== found) return [fault(ofPods, image, generate)];
  const changes = differences({ ...expected }, { ...rules });
  const made = `its ${changes.join(', ')} are not those that this release makes from ${configuration.source}`;
  if (changes.length > 0) return [fault(ofPods, made, generate)];
  if (relies || !installation.mutating.found?.length) return [];
  const what = 'the webhook is called for every pod too, so an outage of cni-gate refuses all of them';
  return [warning(what, 'Apply the overlay strict-policies or permissive-policies, or delete the policies')];
}

const generate =
  `${applyAgain}. If the configuration sets proof or profiles, apply the output of "cni-gate policies --config FILE ` +
  '--image IMAGE" afterwards';

/**
 * The configuration with the image that the installation sets, unless the configuration itself names one.
 * @param injected the image of the mutating policy, used if nothing else in the installation names an image
 */
function asInstalled({ configuration }: Policy, { installation }: Facts, injected: string): Policy {
  const { proof } = configuration;
  if (proof.image !== validatorImage) return new Policy(configuration);
  const { deployment, policies } = installation;
  const inits = deployment.found?.spec?.template.spec?.initContainers;
  const validator = inits?.find(({ name }) => name === 'validator');
  const images = policies.pods.policy.found?.spec?.variables?.find(({ name }) => name === 'images');
  const image =
    validator?.image ?? /['"](.*?)['"]/.exec(images?.expression ?? '')?.[1] ?? injected.replaceAll('"', '');
  return new Policy({ ...configuration, proof: { ...proof, image } });
}

const imageIn = ({ variables }: PolicySpec): string =>
  variables?.find(({ name }) => name === 'image')?.expression ?? 'none';
