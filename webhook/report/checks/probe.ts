import { docsUrl } from '../../lib/names.ts';
import type { Facts } from '../facts/collect.ts';
import { unknownIn } from '../facts/observation.ts';
import type { ProbeReason } from '../facts/probe.ts';
import { type Finding, failed, notKnown, passed, skipped } from './finding.ts';

const refusedByOthers =
  'Another policy, webhook or quota of the cluster refused the pod: allow pods named cni-gate-probe-* there, label another namespace, or run it without the probe';

/**
 * Whether a new pod comes back with its proof. Only a try shows that pods are admitted, so a result needs one, unless
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
      return failed(
        'CNI_GATE_PROBE',
        `a new pod in namespace ${namespace}: ${what}`,
        (reason && hints[reason]) ?? '',
      );
    case 'not-made': {
      const unread = unknownIn(namespaces);
      if (reason === 'no-namespace' && unread === undefined) return skipped(`no pod was tried: ${what}`);
      const without = reason === 'rights' ? '; or run it without the probe' : '';
      const finding = notKnown({ why: `no pod could be tried: ${unread?.why ?? what}${without}` }, true);
      return reason === 'other' ? { ...finding, hint: refusedByOthers } : finding;
    }
  }
}

/** What to do about a probe that failed. */
const hints: { [reason in ProbeReason]?: string } = {
  refused: `See ${docsUrl}guides/break-glass.md#what-the-refusals-say`,
  silence:
    'Look at the load of the API server, and at other webhooks for pods: kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations',
  changed: 'Look for a webhook that is called after cni-gate and changes its container',
  'not-called':
    'Look at the namespaceSelector of the webhook for pods and, with the overlay permissive, at the logs of the replicas',
};
