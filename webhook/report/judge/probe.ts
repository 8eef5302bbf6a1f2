import { ClusterError } from '../../cluster/errors.ts';
import { readStatus } from '../../core/facts/status-annotation.ts';
import {
  docsUrl,
  installedPolicies,
  installedWebhooks,
  statusAnnotation,
  validatorContainer,
} from '../../lib/names.ts';
import type { Facts } from '../observe/observe.ts';
import { isSilence, type ProbeAnswer } from '../observe/probe.ts';
import { type Finding, failed, known, notKnown, passed, warning } from './row.ts';

const [webhook] = installedWebhooks.mutating;

/** The webhooks and policies of an installation that review new pods. */
const ours: ReadonlySet<string> = new Set([webhook, ...installedWebhooks.validating, installedPolicies[0]]);

/**
 * Finds, in a message of the API server, the webhook or policy that refused a request or could not be called. Source:
 * k8s.io/apiserver, pkg/admission/plugin/webhook/errors/statuserror.go, pkg/util/webhook/error.go, and
 * pkg/admission/plugin/policy/validating/dispatcher.go and mutating/dispatcher.go.
 */
const refuser = /^(?:admission webhook|failed calling webhook|ValidatingAdmissionPolicy|policy) ["']([^"']+)/;

/** The message of a LimitRange. Source: Kubernetes, plugin/pkg/admission/limitranger/admission.go. */
const byLimitRange = / per Container is /;

/**
 * Whether pods that a dry run created got our init container: only this probe shows that pods are admitted.
 * Undefined if the probe was not requested, or if no namespace has opted in with profiles that exist.
 */
export function checkProbe({ probe, namespaces }: Facts): Finding[] | undefined {
  if (probe === undefined) return undefined;
  known(namespaces);
  if (probe.length === 0) return undefined;
  const findings = probe.map((one) => ({ ...findingOf(one), object: one.namespace }));
  // if something else refused every pod, nothing shows whether cni-gate would have answered
  const isOpen = findings.every(({ result }) => result === 'warning');
  return isOpen ? findings.map((one) => ({ ...one, result: 'not-known' as const })) : findings;
}

const fault = (what: string): Finding =>
  failed('CNI_GATE_PROBE', what, `See ${docsUrl}guides/break-glass.md#what-the-refusals-say`);

function findingOf({ required, needsServer, answer }: ProbeAnswer): Finding {
  if (answer instanceof ClusterError) return refusalOf(answer, needsServer);
  const status = readStatus(answer);
  const first = answer.spec.initContainers?.[0]?.name;
  if (needsServer)
    return status !== undefined && status.left === undefined
      ? passed('the server answers for a pod that the mutating policy leaves to it')
      : fault('the mutating policy injects, but a pod that needs the server comes back without its answer');
  if (status === undefined)
    return fault(
      `a new pod comes back without ${statusAnnotation}: the API server did not ask cni-gate, or got no answer and continued`,
    );
  if (first === validatorContainer) {
    const checks = Array.isArray(status.checks) ? status.checks.join(', ') : '';
    return passed(`a new pod comes back with ${validatorContainer} (${checks})`);
  }
  if (required.length === 0) return passed('cni-gate answers; no profile applies to the pod of the probe');
  return fault(
    `a new pod should come back with ${validatorContainer} (${required.join(', ')}), but its first init container is ${first ?? 'missing'}: look for a webhook that is called after cni-gate`,
  );
}

/** A refusal is a failure only if cni-gate or our init container caused it, or if nothing answered. */
function refusalOf(error: ClusterError, needsServer: boolean): Finding {
  const { missingRight, statusMessage, causes, message } = error;
  if (isSilence(error)) return fault(message);
  // the API server writes the message, and a webhook may write the causes, so the message is searched first
  const [by] = [statusMessage, ...causes].flatMap((text) => refuser.exec(text)?.[1] ?? []);
  if (needsServer && message.includes(`admission webhook "${webhook}" denied the request`))
    return passed('the server answers for a pod that the mutating policy leaves to it');
  if (by !== undefined && ours.has(by))
    return fault(needsServer ? `the server does not answer for a pod that needs it: ${message}` : message);
  if (missingRight !== undefined) return notKnown(`${message}; or run it without the probe`);
  const fit = 'Set proof.resources in the configuration to values that fit';
  if (byLimitRange.test(statusMessage)) return failed('CNI_GATE_RESOURCES', message, fit);
  const hint = 'Allow pods named cni-gate-probe-* there, or run it without the probe';
  return warning(`something other than cni-gate refuses new pods: ${message}`, hint);
}
