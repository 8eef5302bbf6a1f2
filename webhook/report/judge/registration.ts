import { isDeepStrictEqual } from 'node:util';
import type { V1LabelSelector, V1ValidatingAdmissionPolicySpec } from '@kubernetes/client-node';
import {
  gateWebhooks,
  installedPolicies,
  installedWebhooks,
  optOutValue,
  profileLabel,
  webhookConfiguration,
} from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import { isRollingOut, type Webhook } from '../observe/installation.ts';
import type { Facts } from '../observe/observe.ts';
import { objectsIn } from '../observe/rights.ts';
import { applyAgain, type CheckResult, failed, judged, notKnown, passed, skipped } from './check-result.ts';
import { unknownConfiguration } from './namespaces.ts';

/* What is registered in a cluster, compared with the manifests of this release. */

type PolicyName = (typeof installedPolicies)[number];

/** The specs of the policies in the manifests. */
export const expectedPolicies: Record<PolicyName, V1ValidatingAdmissionPolicySpec> = {
  'pods.cni-gate.io': objectsIn('policy-pods')[0].spec,
  'service-account.cni-gate.io': objectsIn('policy-service-account')[0].spec,
};

/** The webhooks in the manifests. */
export const expectedWebhooks: readonly Webhook[] = ['mutating-webhook', 'validating-webhook'].flatMap(
  (file) => objectsIn(file)[0].webhooks,
);

/** Whether the API server calls the webhook for pods as the manifests ask. */
export const checkPodWebhook = ({ registered }: Facts): CheckResult =>
  registrationOf('mutating', installedWebhooks.mutating, registered.mutating);

/** Whether the API server calls the webhooks of the gate as the manifests ask. */
export const checkGateWebhooks = ({ registered }: Facts): CheckResult =>
  registrationOf('validating', gateWebhooks, registered.validating);

/** Whether the API server has these webhooks, can trust their server, and calls them for what the manifests name. */
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
  const writers = 'and look at what writes the caBundle: the replicas once they run, or cert-manager';
  const fault = (what: string, hint = `${applyAgain}, ${writers}`): CheckResult =>
    failed('CNI_GATE_NOT_REGISTERED', what, hint);
  const ours = registered.filter(({ name }) => names.includes(name));
  const missing = names.filter((name) => !ours.some((webhook) => webhook.name === name));
  if (missing.length > 0) return fault(`there is no webhook ${missing.join(', ')} in ${where}`);
  // Without a caBundle the API server goes by the authorities of its own machine: none of those signs for a Service.
  const distrusted = ours.filter(({ clientConfig: { service, caBundle } }) => service && !caBundle);
  if (distrusted.length > 0)
    return fault(`there is no caBundle for ${distrusted.map(({ name }) => name).join(', ')} in ${where}`);
  const texts = ours.flatMap((webhook) => {
    const fields = changesOfWebhook(webhook);
    return fields.length > 0 ? `${fields.join(', ')} of ${webhook.name}` : [];
  });
  if (texts.length === 0) return passed('registered as in the manifests');
  return fault(
    `${where} is not as in the manifests of cni-gate ${version}: ${texts.join('; ')}`,
    `Apply the manifests again; apply keeps fields that others added: remove those with "kubectl edit ${where}". ` +
      'If another release is installed, run the command of that release',
  );
}

/** The fields in which a webhook of ours differs from the manifests. */
function changesOfWebhook(found: Webhook): string[] {
  const expected = expectedWebhooks.find(({ name }) => name === found.name);
  if (expected === undefined) return [];
  const parts = ({ clientConfig, namespaceSelector, ...webhook }: Webhook) => ({
    rules: webhook.rules,
    namespaceSelector: withoutProvider(namespaceSelector),
    objectSelector: webhook.objectSelector,
    matchConditions: webhook.matchConditions,
    matchPolicy: webhook.matchPolicy,
    reinvocationPolicy: webhook.reinvocationPolicy,
    // a server outside of the cluster may have any URL
    clientConfig: { ...(found.clientConfig.url ? {} : clientConfig.service), namespace: undefined },
  });
  return differences(parts(expected), parts(found));
}

/**
 * Requirements that the admissions enforcer of Azure Kubernetes Service writes into the namespaceSelector of every
 * webhook, and writes again when they are taken out. They leave out namespaces of AKS alone.
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

/** The parts that are compared. */
interface Parts {
  [field: string]: unknown;
  matchConditions: Webhook['matchConditions'];
}

/** The fields that differ. A condition may be missing, as with the component `no-opt-out`: it only passes objects over. */
function differences(expected: Parts, found: Parts): string[] {
  const kept = new Set(found.matchConditions?.map(({ name }) => name));
  const conditions = expected.matchConditions?.filter(({ name }) => kept.has(name));
  const wanted: Parts = { ...expected, matchConditions: conditions };
  return Object.keys(found).filter((field) => !isDeepStrictEqual(plain(wanted[field]), plain(found[field])));
}

/** What the API server fills in. */
const defaults: Readonly<Record<string, unknown>> = {
  scope: '*',
  port: 443,
  matchPolicy: 'Equivalent',
  reinvocationPolicy: 'Never',
};

/** A value without defaults and empty parts; undefined if nothing is left. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(plain);
  if (typeof value !== 'object' || value === null) return value ?? undefined;
  const fields = Object.entries(value)
    .map(([key, part]) => [key, plain(part)] as const)
    .filter(([key, part]) => part !== undefined && part !== defaults[key]);
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

/** Whether the policy over pods is in force. With `proof.mode: warn` it may only warn. */
export const checkPodsPolicy = (facts: Facts): CheckResult =>
  policyOf(facts, 'pods', 'a pod whose init container another webhook removes is admitted');

/** Whether the policy over our service account is in force. */
export const checkAccountPolicy = (facts: Facts): CheckResult =>
  policyOf(facts, 'serviceAccount', 'only RBAC limits what the service account of cni-gate may write');

/** Whether a policy of ours is there with its binding, asks what the manifests ask, and denies. @param lost what is lost otherwise */
function policyOf(
  { installation: { policies }, configuration }: Facts,
  kind: keyof typeof policies,
  lost: string,
): CheckResult {
  const { policy, binding } = policies[kind];
  const name = installedPolicies[kind === 'pods' ? 0 : 1];
  const object = `Policy ${name}`;
  const fault = (what: string, hint = applyAgain): CheckResult =>
    failed('CNI_GATE_POLICY', `${object}: ${what}, so ${lost}`, hint);
  const [rules, bound] = [policy.found?.spec, binding.found?.spec];
  if (rules === undefined || bound === undefined) {
    if (!policy.unknown && rules === undefined) return fault('it does not exist');
    if (!binding.unknown && bound === undefined) return fault('its binding does not exist');
    const { why = '', ...unknown } = policy.unknown ?? binding.unknown ?? {};
    return notKnown({ ...unknown, why: `${object}: ${why}` }, true);
  }
  const changes = changesOfPolicy(name, rules);
  const otherRelease = `${applyAgain}. If another release is installed, run the command of that release`;
  if (changes.length > 0)
    return fault(`its ${changes.join(', ')} are not those of cni-gate ${version}`, otherRelease);
  const { policyName, validationActions: actions = [], matchResources } = bound;
  if (policyName !== name) return fault(`its binding is one of policy ${policyName}`);
  // the API server may fill in empty selectors
  if (plain(matchResources) !== undefined)
    return fault('its binding has matchResources, which leave objects out');
  const mayWarn = kind === 'pods' && (configuration.trouble || configuration.policy.proof.mode === 'warn');
  const loose = `its binding does not deny (validationActions: ${actions.join(', ') || 'none'})`;
  if (!actions.includes('Deny') && !mayWarn) return fault(loose);
  if (!actions.includes('Deny') && configuration.trouble)
    return notKnown({ why: `${object}: ${loose}; whether that is wanted, the configuration says` });
  const open =
    rules.failurePolicy === 'Ignore' ? '; failurePolicy Ignore: an error in it refuses no pod' : '';
  return passed(`bound: ${actions.join(', ')}${open}`);
}

/** The fields in which a policy differs from the manifests. An installation sets the variable `images`. */
function changesOfPolicy(name: PolicyName, found: V1ValidatingAdmissionPolicySpec): string[] {
  const parts = (spec: V1ValidatingAdmissionPolicySpec) => ({
    paramKind: spec.paramKind,
    matchConstraints: spec.matchConstraints,
    matchConditions: spec.matchConditions,
    variables: spec.variables?.filter((variable) => variable.name !== 'images'),
    validations: spec.validations?.map(({ expression }) => expression),
  });
  return differences(parts(expectedPolicies[name]), parts(found));
}

/** Whether the API server leaves out pods that opt out exactly where the configuration lets them. */
export function checkOptOut({ configuration, registered, installation }: Facts): CheckResult {
  const { found: policy, unknown } = installation.policies.pods.policy;
  if (configuration.trouble !== undefined) return unknownConfiguration;
  if (unknown !== undefined || registered.mutating === undefined)
    return notKnown(unknown ?? { why: 'the webhook for pods may not be read' });
  const { allowOptOut } = configuration.policy.proof;
  const webhook = registered.mutating.find(({ name }) => name === installedWebhooks.mutating[0]);
  const places = [
    ...(webhook ? [{ place: `webhook ${webhook.name}`, conditions: webhook.matchConditions }] : []),
    ...(policy?.spec
      ? [{ place: `policy ${installedPolicies[0]}`, conditions: policy.spec.matchConditions }]
      : []),
  ];
  // the component `no-opt-out` removes this match condition from the webhook and the policy over pods
  const lets = (conditions: Webhook['matchConditions'] = []): boolean =>
    conditions.some(({ name }) => name === 'not-opted-out');
  const wrong = places.flatMap(({ place, conditions }) => (lets(conditions) === allowOptOut ? [] : place));
  if (places.length === 0) return skipped('there is no webhook and no policy over pods');
  if (wrong.length === 0) return passed(`as proof.allowOptOut: ${allowOptOut}`);
  const names = wrong.join(' and ');
  const [seen, hint] = allowOptOut
    ? [
        `the component no-opt-out is in force in ${names}: pods that opt out are refused`,
        'Set proof.allowOptOut: false, or remove the component no-opt-out',
      ]
    : [
        `the label ${profileLabel}: ${optOutValue} still opens ${names}`,
        'Add the component no-opt-out (Helm adds it)',
      ];
  return failed('CNI_GATE_OPT_OUT', `proof.allowOptOut is ${allowOptOut}, and ${seen}`, hint);
}

/**
 * Whether the API server accepts the certificate that the replicas serve, webhook by webhook. A caller who may not read
 * the Secret does not know: the API does not show what is really served.
 */
export function checkCertificate({ installation: { certificate, deployment } }: Facts): CheckResult {
  if (certificate.unknown?.forbidden === false) return skipped(`Certificate: ${certificate.unknown.why}`);
  return judged(
    certificate,
    (found) => {
      const faults = found?.webhooks.filter(({ fault }) => fault !== undefined) ?? [];
      const [first] = faults;
      if (first === undefined) {
        const what = `every caBundle trusts the certificate in Secret ${found?.secret}`;
        if (deployment.found === undefined || !isRollingOut(deployment.found)) return passed(what);
        return notKnown({ why: `${what}; which one the earlier replicas serve is not known` });
      }
      const names = faults.filter(({ fault }) => fault === first.fault).map(({ name }) => name);
      return failed(
        'CNI_GATE_CA_BUNDLE',
        `Secret ${found?.secret}: the API server does not accept its certificate for ${names.join(', ')}: ${first.fault}`,
        'Read the log of cni-gate, or check what writes your certificate and caBundle',
      );
    },
    false,
    'Certificate',
  );
}
