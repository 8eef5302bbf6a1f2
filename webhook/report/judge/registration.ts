import type { V1LabelSelector } from '@kubernetes/client-node';
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
  anotherRelease,
  applyAgain,
  type CheckResult,
  failed,
  known,
  knownPolicy,
  notKnown,
  passed,
  skipped,
} from './check-result.ts';
import { differences } from './differences.ts';

/* Compares the webhooks that a cluster has with the manifests of this release. */

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

/** Whether webhook and policy exclude pods that opt out if, and only if, the configuration allows opting out. */
export function checkOptOut({ configuration, registered, installation }: Facts): CheckResult {
  const { allowOptOut } = knownPolicy(configuration).proof;
  const policy = known(installation.policies.pods.policy);
  if (registered.mutating === undefined) return notKnown({ why: 'the webhook for pods may not be read' });
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
  const { secret, webhooks = [], notShown } = known(certificate) ?? {};
  if (notShown) return skipped(notShown);
  const faults = webhooks.filter(({ fault }) => fault !== undefined);
  const [first] = faults;
  if (first === undefined) return passed(`every caBundle trusts the certificate in Secret ${secret}`);
  const names = faults.flatMap(({ name, fault }) => (fault === first.fault ? name : []));
  return failed(
    'CNI_GATE_CA_BUNDLE',
    `Secret ${secret}: the API server does not accept its certificate for ${names.join(', ')}: ${first.fault}`,
    'Read the log of cni-gate, or check what writes your certificate and caBundle',
  );
}
