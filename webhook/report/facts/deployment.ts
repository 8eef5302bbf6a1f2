import { posix } from 'node:path';
import type { V1Container, V1Deployment } from '@kubernetes/client-node';
import { installedDeployment } from '../../lib/names.ts';

/* What our Deployment says of the replicas. */

const serverIn = ({ spec }: V1Deployment): V1Container | undefined =>
  spec?.template.spec?.containers.find(({ name }) => name === installedDeployment);

/** The version of an installation: the tag of the server's image, without the digest; undefined without a tag. */
export function versionIn(deployment: V1Deployment): string | undefined {
  // a port of the registry comes before a slash
  return /:([^:/]+)$/.exec(serverIn(deployment)?.image?.split('@')[0] ?? '')?.[1];
}

/** Whether earlier replicas may still serve, by the rules of `kubectl rollout status`. */
export function isRollingOut({ metadata, spec, status = {} }: V1Deployment): boolean {
  const { replicas = 0, updatedReplicas = 0, observedGeneration = 0 } = status;
  const wanted = Math.max(replicas, spec?.replicas ?? 1);
  return updatedReplicas < wanted || observedGeneration < (metadata?.generation ?? 0);
}

/** The name of the replicas' service account. */
export const accountIn = ({ spec }: V1Deployment): string =>
  spec?.template.spec?.serviceAccountName ?? 'default';

/**
 * The Secret from which the replicas have their serving certificate: that of `--tls-secret`, which has the authority, or
 * the one whose volume has the file of `--tls-cert`. Undefined if the Deployment does not say.
 */
export function servingSecret(
  deployment: V1Deployment,
): { name: string; key: string; isAuthority: boolean } | undefined {
  const { args, volumeMounts } = serverIn(deployment) ?? {};
  const managed = flagOf(args, '--tls-secret');
  if (managed !== undefined) return { name: managed, key: 'tls.crt', isAuthority: true };
  const { dir, base } = posix.parse(flagOf(args, '--tls-cert') ?? '');
  const mount = volumeMounts?.find(({ mountPath }) => mountPath === dir);
  const volume = deployment.spec?.template.spec?.volumes?.find(({ name }) => name === mount?.name);
  const name = volume?.secret?.secretName;
  return name === undefined ? undefined : { name, key: base, isAuthority: false };
}

/** The value of a flag, written as `--flag=value` or as two arguments. */
function flagOf(args: readonly string[] = [], flag: string): string | undefined {
  const at = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`));
  return args[at] === flag ? args[at + 1] : args[at]?.slice(flag.length + 1);
}
