import type { V1Container, V1Deployment } from '@kubernetes/client-node';
import { defaultPort, installedDeployment } from '../../lib/names.ts';

/* What our Deployment says of the replicas. */

const containersOf = ({ spec }: V1Deployment): V1Container[] => spec?.template.spec?.containers ?? [];

/** The version of an installation: the tag of the server's image, without the digest; undefined without a tag. */
export function versionIn(deployment: V1Deployment): string | undefined {
  const image = containersOf(deployment).find(({ name }) => name === installedDeployment)?.image;
  // a port of the registry comes before a slash
  return /:([^:/]+)$/.exec(image?.split('@')[0] ?? '')?.[1];
}

/** The name of the replicas' service account. */
export const accountIn = ({ spec }: V1Deployment): string =>
  spec?.template.spec?.serviceAccountName ?? 'default';

/**
 * The TCP ports on which the replicas may answer calls: that of the server, and those of other containers, which may
 * stand before it. Undefined while a rollout goes on: some replicas are of another template.
 */
export function listeningPorts(deployment: V1Deployment): number[] | undefined {
  const { metadata, spec, status } = deployment;
  const isOld = (status?.observedGeneration ?? 0) < (metadata?.generation ?? 0);
  if (isOld || (status?.updatedReplicas ?? 0) < (spec?.replicas ?? 1)) return undefined;
  return containersOf(deployment).flatMap(({ name, args, ports }) =>
    name === installedDeployment
      ? [Number(flagOf(args, '--port') ?? defaultPort)]
      : (ports ?? []).map(({ containerPort }) => containerPort),
  );
}

/**
 * The Secret from which the replicas have their serving certificate: that of `--tls-secret`, which has the authority, or
 * the one behind the volume with the file of `--tls-cert`. Undefined if the Deployment does not say.
 */
export function servingSecret(
  deployment: V1Deployment,
): { name: string; key: string; isAuthority: boolean } | undefined {
  for (const { args, volumeMounts } of containersOf(deployment)) {
    const managed = flagOf(args, '--tls-secret');
    if (managed !== undefined) return { name: managed, key: 'tls.crt', isAuthority: true };
    const file = flagOf(args, '--tls-cert');
    const mount = volumeMounts?.find(({ mountPath }) => file?.startsWith(`${mountPath}/`));
    const { volumes } = deployment.spec?.template.spec ?? {};
    const secret = volumes?.find(({ name }) => name === mount?.name)?.secret;
    if (file === undefined || mount === undefined || !secret?.secretName) continue;
    const path = file.slice(mount.mountPath.length + 1);
    const key = secret.items?.find((item) => item.path === path)?.key ?? path;
    return { name: secret.secretName, key, isAuthority: false };
  }
  return undefined;
}

/** The value of a flag, written as `--flag=value` or as two arguments. */
function flagOf(args: readonly string[] = [], flag: string): string | undefined {
  const at = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`));
  return args[at] === flag ? args[at + 1] : args[at]?.slice(flag.length + 1);
}
