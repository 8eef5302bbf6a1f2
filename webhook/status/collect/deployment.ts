import type { DeploymentFacts } from '../installation/facts.ts';

/** What is read of our Deployment, as the API gives it. */
export interface ApiDeployment {
  metadata: { generation?: number };
  spec: { replicas?: number | null; template: { spec?: ApiPodSpec | null } };
  status?: {
    observedGeneration?: number;
    readyReplicas?: number;
    updatedReplicas?: number;
    conditions?: { type: string; status: string; reason?: string; message?: string }[] | null;
  } | null;
}

interface ApiPodSpec {
  containers?:
    | { args?: string[] | null; volumeMounts?: { name: string; mountPath: string }[] | null }[]
    | null;
  volumes?:
    | {
        name: string;
        secret?: { secretName?: string; items?: { key: string; path: string }[] | null } | null;
      }[]
    | null;
}

export function pickDeployment({ metadata, spec, status }: ApiDeployment): DeploymentFacts {
  const { observedGeneration = 0, readyReplicas = 0, updatedReplicas = 0, conditions } = status ?? {};
  // a status that is older than the spec tells of other pods
  const isOld = observedGeneration < (metadata.generation ?? 0);
  const stuck = conditions?.find(
    ({ type, status: is, reason }) =>
      type === 'Progressing' && is === 'False' && reason === 'ProgressDeadlineExceeded',
  );
  return {
    desired: spec.replicas ?? 1,
    ready: readyReplicas,
    updated: isOld ? 0 : updatedReplicas,
    stuck: stuck && (stuck.message ?? 'it made no progress in time'),
  };
}

/** A Secret in the namespace of the Deployment, and the key in it that contains a certificate. */
export interface SecretKey {
  name: string;
  key: string;
  /** Whether it is the authority that signs the replicas' certificates; otherwise it is what they serve. */
  isAuthority: boolean;
}

/**
 * The Secret from which the Deployment's replicas have their serving certificate: that of `--tls-secret`, or the one
 * behind the volume that holds the file of `--tls-cert`. Undefined where the Deployment does not say.
 */
export function servingSecret({ spec }: ApiDeployment): SecretKey | undefined {
  const { containers, volumes } = spec.template.spec ?? {};
  for (const { args, volumeMounts } of containers ?? []) {
    const managed = flagOf(args ?? [], '--tls-secret');
    if (managed !== undefined) return { name: managed, key: 'tls.crt', isAuthority: true };
    const file = flagOf(args ?? [], '--tls-cert');
    const mount = volumeMounts?.find(({ mountPath }) => file?.startsWith(`${mountPath}/`));
    const secret = volumes?.find(({ name }) => name === mount?.name)?.secret;
    if (file === undefined || mount === undefined || !secret?.secretName) continue;
    const path = file.slice(mount.mountPath.length + 1);
    const key = secret.items?.find((item) => item.path === path)?.key ?? path;
    return { name: secret.secretName, key, isAuthority: false };
  }
  return undefined;
}

/** The value of a flag, written as `--flag=value` or as two arguments. */
function flagOf(args: readonly string[], flag: string): string | undefined {
  for (const [at, arg] of args.entries()) {
    if (arg.startsWith(`${flag}=`)) return arg.slice(flag.length + 1);
    if (arg === flag) return args[at + 1];
  }
  return undefined;
}
