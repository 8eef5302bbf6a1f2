import { ClusterError } from '../../cluster/errors.ts';
import { statusRole } from '../../lib/names.ts';

/**
 * How to get the rights that were missing, to be added to an error's text: the ClusterRole of the manifests, and the
 * command that binds it to who asked. Empty for an error that is no refusal by RBAC.
 */
export function roleFor(error: unknown): string {
  if (!(error instanceof ClusterError) || error.status !== 403) return '';
  return `. ClusterRole ${statusRole} of the manifests has every right that status needs; who may bind it runs: kubectl create clusterrolebinding ${statusRole} --clusterrole=${statusRole} ${subjectIn(error.message)}`;
}

/** The error with {@link roleFor} in its message, where that says anything. */
export function withRoleNamed(error: unknown): unknown {
  const role = roleFor(error);
  if (!(error instanceof ClusterError) || role === '') return error;
  const { code, message, status, reason, missingRight } = error;
  return new ClusterError(code, message + role, {
    ...(status !== undefined && { status }),
    reason,
    missingRight,
    cause: error,
  });
}

/** Who asked, as the API server names them in its refusal, as a flag of kubectl. */
function subjectIn(message: string): string {
  const user = /\bUser "([^"]+)" cannot /.exec(message)?.[1] ?? 'NAME';
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user);
  if (account) return `--serviceaccount=${account[1]}:${account[2]}`;
  // what a shell would take apart is quoted
  return `--user=${/^[\w@.:/-]+$/.test(user) ? user : `'${user.replaceAll("'", `'\\''`)}'`}`;
}
