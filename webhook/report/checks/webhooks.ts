import { gateWebhooks, installedWebhooks, webhookConfiguration } from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import { isRollingOut } from '../facts/deployment.ts';
import type { InstallationFacts, Registered, Webhook } from '../facts/installation.ts';
import { foundIn, unknownIn } from '../facts/observation.ts';
import { applyAgain, type Finding, failed, judged, notKnown, passed, skipped } from './finding.ts';
import { changesOfWebhook } from './registration.ts';

/** Whether the API server calls the webhook for pods as the manifests ask. */
export const checkPodWebhook = ({ mutating }: Registered): Finding =>
  registrationOf('mutating', installedWebhooks.mutating, mutating);

/** Whether the API server calls the webhooks of the gate as the manifests ask. */
export const checkGateWebhooks = ({ validating }: Registered): Finding =>
  registrationOf('validating', gateWebhooks, validating);

/**
 * Whether the API server has all of these webhooks of a kind, can trust their server, and calls them for what the
 * manifests name.
 */
function registrationOf(
  kind: keyof typeof installedWebhooks,
  names: readonly string[],
  found: readonly Webhook[] | undefined,
): Finding {
  const where = `${kind}webhookconfiguration/${webhookConfiguration}`;
  if (found === undefined) {
    const right = `verb "list" on resource "${kind}webhookconfigurations" of API group "admissionregistration.k8s.io"`;
    return notKnown({ why: `${where} may not be read`, right }, true);
  }
  const ours = found.filter(({ name }) => names.includes(name));
  const missing = names.filter((name) => !ours.some((one) => one.name === name));
  if (missing.length > 0) return fault(`there is no webhook ${missing.join(', ')} in ${where}`);
  // Without a caBundle the API server goes by the authorities of its own machine: none of those signs for a Service.
  const distrusted = ours.filter(({ clientConfig: { service, caBundle } }) => service && !caBundle);
  if (distrusted.length > 0)
    return fault(`there is no caBundle for ${distrusted.map(({ name }) => name).join(', ')} in ${where}`);
  return comparison(where, ours);
}

const writers = 'and look at what writes the caBundle: the replicas once they run, or cert-manager';

const fault = (what: string): Finding => failed('CNI_GATE_NOT_REGISTERED', what, `${applyAgain}, ${writers}`);

/** Whether webhooks are as in the manifests. Any difference is a fault. */
function comparison(where: string, webhooks: readonly Webhook[]): Finding {
  const texts = webhooks.flatMap((webhook) => {
    const fields = changesOfWebhook(webhook);
    return fields.length > 0 ? `${fields.join(', ')} of ${webhook.name}` : [];
  });
  if (texts.length === 0) return passed('registered as in the manifests');
  const what = `${where} is not as in the manifests of cni-gate ${version}: ${texts.join('; ')}`;
  const hint =
    `Apply the manifests again; apply keeps fields that others added: remove those with "kubectl edit ${where}". ` +
    'If another release is installed, run the command of that release';
  return failed('CNI_GATE_NOT_REGISTERED', what, hint);
}

/**
 * Whether the API server accepts the certificate that the replicas serve, webhook by webhook. A caller who may not read
 * the Secret does not know: the API does not show what is really served.
 */
export function checkCertificate({ certificate, deployment }: InstallationFacts): Finding {
  const unknown = unknownIn(certificate);
  if (unknown?.forbidden === false) return skipped(`Certificate: ${unknown.why}`);
  return judged(
    certificate,
    (found) => {
      const faults = found?.webhooks.filter(({ fault }) => fault !== undefined) ?? [];
      const [first] = faults;
      if (first === undefined) {
        const what = `every caBundle trusts the certificate in Secret ${found?.secret}`;
        const current = foundIn(deployment);
        if (current === undefined || !isRollingOut(current)) return passed(what);
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
