import type { V1LabelSelector, V1ValidatingAdmissionPolicySpec } from '@kubernetes/client-node';
import { leftByThePolicy } from '../../core/policies/conditions.ts';
import {
  gateWebhooks,
  installedPolicies,
  installedWebhooks,
  optOutValue,
  profileLabel,
  webhookConfiguration,
} from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import type { Webhook } from '../observe/installation.ts';
import type { Facts } from '../observe/observe.ts';
import { objectsIn } from '../observe/rights.ts';
import {
  applyAgain,
  type CheckResult,
  failed,
  judged,
  notKnown,
  passed,
  skipped,
  unknownConfiguration,
} from './check-result.ts';
import { differences, plain } from './differences.ts';

/* Compares the webhooks and policies that a cluster has with the manifests of this release. */

/** The specs of the policies in the manifests. */
export const expectedPolicies: Record<'pods' | 'serviceAccount', V1ValidatingAdmissionPolicySpec> = {
  pods: objectsIn('policy-pods')[0].spec,
  serviceAccount: objectsIn('policy-service-account')[0].spec,
};

/** The webhooks in the manifests. */
export const expectedWebhooks: readonly Webhook[] = ['mutating-webhook', 'validating-webhook'].flatMap(
  (file) => objectsIn(file)[0].webhooks,
);

/** A webhook of the manifests, with the match condition that the component `policies` adds. */
function expectedWebhook(name: string): Webhook | undefined {
  const found = expectedWebhooks.find((webhook) => webhook.name === name);
  if (found === undefined || name !== installedWebhooks.mutating[0]) return found;
  return { ...found, matchConditions: [...(found.matchConditions ?? []), leftByThePolicy] };
}

const anotherRelease = 'If another release is installed, run the command of that release';

export const checkPodWebhook = ({ registered }: Facts): CheckResult =>
  registrationOf('mutating', installedWebhooks.mutating, registered.mutating);

export const checkGateWebhooks = ({ registered }: Facts): CheckResult =>
  registrationOf('validating', gateWebhooks, registered.validating);

/** Whether the API server has these webhooks, trusts their server, and calls them for the right objects. */
function registrationOf(
  kind: keyof typeof installedWebhooks,
  names: readonly string[],
  registered: readonly Webhook[] | undefined,
): CheckResult {
  const where = `${kind}webhookconfiguration/${webhookConfiguration}`;
  if (registered === undefined) {
    const right = `verb "list" on resource "${kind}webhookconfigurations" of API group "admissionregistration.k8s.io"`;
    return notKnown({ why: `${where} may not be read`, right }, true);
  }
  const writers = `${applyAgain}, and look at what writes the caBundle: the replicas once they run, or cert-manager`;
  const fault = (what: string, hint = writers): CheckResult => failed('CNI_GATE_NOT_REGISTERED', what, hint);
  const ours = registered.filter(({ name }) => names.includes(name));
  const missing = names.filter((name) => !ours.some((webhook) => webhook.name === name));
  if (missing.length > 0) return fault(`there is no webhook ${missing.join(', ')} in ${where}`);
  // Without a caBundle the API server uses its machine's authorities, none of which signs certificates of a Service.
  const distrusted = ours.filter(({ clientConfig: { service, caBundle } }) => service && !caBundle);
  if (distrusted.length > 0)
    return fault(`there is no caBundle for ${distrusted.map(({ name }) => name).join(', ')} in ${where}`);
  const texts = ours.flatMap((webhook) => {
    const expected = expectedWebhook(webhook.name);
    const fields = expected ? differences(comparedOf(expected, webhook), comparedOf(webhook, webhook)) : [];
    return fields.length > 0 ? `${fields.join(', ')} of ${webhook.name}` : [];
  });
  if (texts.length === 0) return passed('registered as in the manifests');
  return fault(
    `${where} is not as in the manifests of cni-gate ${version}: ${texts.join('; ')}`,
    'Apply the manifests again; apply keeps fields that others added: ' +
      `remove those with "kubectl edit ${where}". ${anotherRelease}`,
  );
}

/** The fields of a webhook that are compared. @param found the registered webhook */
const comparedOf = (webhook: Webhook, found: Webhook) => ({
  rules: webhook.rules,
  namespaceSelector: withoutProvider(webhook.namespaceSelector),
  objectSelector: webhook.objectSelector,
  matchConditions: webhook.matchConditions,
  matchPolicy: webhook.matchPolicy,
  reinvocationPolicy: webhook.reinvocationPolicy,
  // a webhook for a server outside the cluster may have any URL
  clientConfig: { ...(found.clientConfig.url ? {} : webhook.clientConfig.service), namespace: undefined },
});

/**
 * Requirements that the admissions enforcer of Azure Kubernetes Service adds to the namespaceSelector of every
 * webhook, and restores when they are removed. These requirements exclude only namespaces of AKS itself.
 * https://learn.microsoft.com/en-us/azure/aks/faq#can-admission-controller-webhooks-impact-kube-system-and-internal-aks-namespaces
 */
const ofProvider = new Set([
  'control-plane DoesNotExist ',
  'control-plane NotIn true',
  'kubernetes.azure.com/managedby NotIn aks',
]);

const withoutProvider = (selector: V1LabelSelector | undefined) => ({
  ...selector,
  matchExpressions: selector?.matchExpressions?.filter(
    ({ key, operator, values }) => !ofProvider.has(`${key} ${operator} ${(values ?? []).join()}`),
  ),
});

/** Whether the policy over pods is in force. With `proof.mode: warn`, a binding that only warns is accepted. */
export const checkPodsPolicy = (facts: Facts): CheckResult =>
  policyOf(facts, 'pods', 'a pod whose init container another webhook removes is admitted');

/** Whether the policy over our service account is in force. */
export const checkAccountPolicy = (facts: Facts): CheckResult =>
  policyOf(facts, 'serviceAccount', 'only RBAC limits what the service account of cni-gate may write');

/** Whether one of our policies and its binding are as in the manifests. @param lost what happens if they are not */
function policyOf(
  { installation: { policies }, configuration: { trouble, policy: configured } }: Facts,
  kind: 'pods' | 'serviceAccount',
  lost: string,
): CheckResult {
  const { policy, binding } = policies[kind];
  const name = installedPolicies[kind === 'pods' ? 0 : 1];
  const fault = (what: string, hint = applyAgain): CheckResult =>
    failed('CNI_GATE_POLICY', `Policy ${name}: ${what}, so ${lost}`, hint);
  const [rules, bound] = [policy.found?.spec, binding.found?.spec];
  if (!policy.unknown && rules === undefined) return fault('it does not exist');
  if (!binding.unknown && bound === undefined) return fault('its binding does not exist');
  if (rules === undefined || bound === undefined)
    return notKnown(policy.unknown ?? binding.unknown ?? { why: '' }, true);
  const changes = differences(partsOf(expectedPolicies[kind]), partsOf(rules));
  if (changes.length > 0)
    return fault(
      `its ${changes.join(', ')} are not those of cni-gate ${version}`,
      `${applyAgain}. ${anotherRelease}`,
    );
  const images = rules.variables?.find((variable) => variable.name === 'images')?.expression;
  if (images !== undefined && !imageList.test(images))
    return fault("its variable images is not a list of images, such as ['example/validator:1']");
  const { policyName, validationActions: actions = [], matchResources, paramRef } = bound;
  // `plain` removes empty selectors, which the API server may fill in
  if (policyName !== name || plain({ matchResources, paramRef }) !== undefined)
    return fault(`its binding ${leavesOut}`);
  const loose = `its binding does not deny (validationActions: ${actions.join(', ') || 'none'})`;
  if (!actions.includes('Deny') && kind === 'pods' && trouble)
    return notKnown({ why: `Policy ${name}: ${loose}; whether that is wanted, the configuration says` });
  if (!actions.includes('Deny') && !(kind === 'pods' && configured.proof.mode === 'warn'))
    return fault(loose);
  const ignores = rules.failurePolicy === 'Ignore';
  const open = ignores ? '; failurePolicy Ignore: an error in it refuses no pod' : '';
  return passed(`bound: ${actions.join(', ')}${open}`);
}

/** A list of string literals in CEL. Each installation sets its images, but an expression could permit any image. */
const imageList = /^\s*\[\s*('[^']*'|"[^"]*")(\s*,\s*('[^']*'|"[^"]*"))*\s*,?\s*\]\s*$/;

/** What is wrong with a binding that does not apply its policy to all objects. */
export const leavesOut = 'is of another policy, or has matchResources or paramRef, which leave objects out';

/** The fields of a policy that are compared, without the variable `images`, which each installation sets. */
const partsOf = (spec: V1ValidatingAdmissionPolicySpec) => ({
  paramKind: spec.paramKind,
  matchConstraints: spec.matchConstraints,
  matchConditions: spec.matchConditions,
  variables: spec.variables?.filter(({ name }) => name !== 'images'),
  validations: spec.validations?.map(({ expression }) => expression),
});

/** Whether webhook and policy exclude pods that opt out if, and only if, the configuration allows opting out. */
export function checkOptOut({ configuration, registered, installation }: Facts): CheckResult {
  const { found: policy, unknown } = installation.policies.pods.policy;
  if (configuration.trouble !== undefined) return unknownConfiguration;
  if (unknown !== undefined || registered.mutating === undefined)
    return notKnown(unknown ?? { why: 'the webhook for pods may not be read' });
  const { allowOptOut } = configuration.policy.proof;
  const [name] = installedWebhooks.mutating;
  const places = [
    { place: `webhook ${name}`, spec: registered.mutating.find((webhook) => webhook.name === name) },
    { place: `policy ${installedPolicies[0]}`, spec: policy?.spec },
  ];
  // the component `no-opt-out` removes this match condition from the webhook and from the policy over pods
  const lets = ({ matchConditions = [] }: Pick<Webhook, 'matchConditions'>): boolean =>
    matchConditions.some((condition) => condition.name === 'not-opted-out');
  const wrong = places.flatMap(({ place, spec }) => (spec && lets(spec) !== allowOptOut ? place : []));
  const names = wrong.join(' and ');
  if (places.every(({ spec }) => !spec)) return skipped('there is no webhook and no policy over pods');
  if (wrong.length === 0) return passed(`as proof.allowOptOut: ${allowOptOut}`);
  if (allowOptOut)
    return failed(
      'CNI_GATE_OPT_OUT',
      `proof.allowOptOut is true, and the component no-opt-out is in force in ${names}: pods that opt out are refused`,
      'Set proof.allowOptOut: false, or remove the component no-opt-out',
    );
  return failed(
    'CNI_GATE_OPT_OUT',
    `proof.allowOptOut is false, and the label ${profileLabel}: ${optOutValue} still opens ${names}`,
    'Add the component no-opt-out (Helm adds it)',
  );
}

/**
 * Whether the API server accepts, for each webhook, the certificate in the replicas' Secret. Without the right to read
 * the Secret the result is not known, because the API does not show which certificate the replicas serve.
 */
export function checkCertificate({ installation: { certificate } }: Facts): CheckResult {
  if (certificate.unknown?.forbidden === false) return skipped(certificate.unknown.why);
  return judged(certificate, (found) => {
    const faults = found?.webhooks.filter(({ fault }) => fault !== undefined) ?? [];
    const [first] = faults;
    if (first === undefined)
      return passed(`every caBundle trusts the certificate in Secret ${found?.secret}`);
    const names = faults.filter(({ fault }) => fault === first.fault).map(({ name }) => name);
    return failed(
      'CNI_GATE_CA_BUNDLE',
      `Secret ${found?.secret}: the API server does not accept its certificate for ${names.join(', ')}: ${first.fault}`,
      'Read the log of cni-gate, or check what writes your certificate and caBundle',
    );
  });
}
