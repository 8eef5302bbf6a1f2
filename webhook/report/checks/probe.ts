import { docsUrl } from '../../lib/names.ts';
import type { Facts } from '../facts/collect.ts';
import { unknownIn } from '../facts/observation.ts';
import type { ProbeReason } from '../facts/probe.ts';
import { type Finding, failed, notKnown, passed, skipped } from './finding.ts';

const refusedByOthers =
  'Another policy, webhook or quota of the cluster refused the pod: allow pods named cni-gate-probe-* there, label another namespace, or run it without the probe';

/**
 * Whether a new pod comes back with its proof. Only a try shows that pods are admitted, so a verdict needs one, unless
 * none was asked for.
 */
export function checkProbe({ probe, namespaces }: Facts): Finding {
  if (probe === undefined) return notKnown({ why: 'no pod was tried, as --no-probe asks' });
  const { namespace, outcome, what, reason } = probe;
  switch (outcome) {
    case 'injected':
      return passed(`in namespace ${namespace}, ${what}`);
    case 'no-profile-applies':
      return skipped(`in namespace ${namespace}, ${what}`);
    case 'failed':
      return failed('CNI_GATE_PROBE', `a new pod in namespace ${namespace}: ${what}`, probeHint(reason));
    case 'not-made': {
      const unread = unknownIn(namespaces);
      if (reason === 'no-namespace' && unread === undefined) return skipped(`no pod was tried: ${what}`);
      const without = reason === 'rights' ? '; or run it without the probe' : '';
      const finding = notKnown({ why: `no pod could be tried: ${unread?.why ?? what}${without}` }, true);
      return reason === 'other' ? { ...finding, hint: refusedByOthers } : finding;
    }
  }
}

const refusals = `See ${docsUrl}guides/break-glass.md#what-the-refusals-say`;

/** What to do about a probe that failed. */
function probeHint(reason: ProbeReason | undefined): string {
  switch (reason) {
    case 'policy':
    case 'changed':
      return `Look for a webhook that is called after cni-gate and changes its container. ${refusals}`;
    case 'webhook':
      return `cni-gate answered and refused the pod: correct what its text names. ${refusals}`;
    case 'webhook-trust':
      return 'Run "cni-gate certs show", or check what writes your certificate and caBundle';
    case 'webhook-call':
      return `If nothing else failed, compare targetPort of the Service with the port of the replicas, and look at NetworkPolicies and firewalls between the API server and the replicas. ${refusals}`;
    case 'silence':
      return 'Look at the load of the API server, and at other webhooks for pods: kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations';
    default:
      return 'Look at the namespaceSelector of the webhook for pods and, with the overlay permissive, at the logs of the replicas';
  }
}
