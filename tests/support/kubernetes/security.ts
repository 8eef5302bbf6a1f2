import type { Container, Pod, SecurityContext } from '../../../webhook/admission/pod.ts';
import { isUserId } from './formats.ts';

/**
 * Kubernetes `pkg/apis/core/validation`, `ValidateSecurityContext`; and what the kubelet refuses to start:
 * `pkg/kubelet/kuberuntime/security_context_others.go`, `verifyRunAsNonRoot`.
 */
export function securityFaults(container: Container, pod: Pod, path: string): string[] {
  const own = container.securityContext ?? {};
  const faults = idFaults(own, path);
  if (own.privileged === true && own.allowPrivilegeEscalation === false) {
    faults.push(`${path}: privileged, but may not escalate privileges`);
  }
  const added = (own.capabilities as { add?: string[] | null } | null | undefined)?.add ?? [];
  if (own.allowPrivilegeEscalation === false && added.some((name) => /^(CAP_)?SYS_ADMIN$/.test(name))) {
    faults.push(`${path}: SYS_ADMIN, but may not escalate privileges`);
  }
  const user = own.runAsUser ?? pod.spec.securityContext?.runAsUser;
  const nonRoot = own.runAsNonRoot ?? pod.spec.securityContext?.runAsNonRoot;
  if (nonRoot === true && user === 0) faults.push(`${path}: runAsNonRoot, and user 0`);
  return faults;
}

/** User and group ids that are none. */
export function idFaults(context: SecurityContext | null | undefined, path: string): string[] {
  return (['runAsUser', 'runAsGroup'] as const).flatMap((key) => {
    const id = context?.[key] ?? undefined;
    return id === undefined || isUserId(id) ? [] : [`${path}.${key}: ${id} is no id`];
  });
}
