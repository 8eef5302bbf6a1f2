import { env, validateCommand } from '../../../validator/shared/contract.ts';
import {
  foreign,
  networkStatusPath,
  podInfoMountPath,
  podInfoVolume,
  validatorContainer,
} from '../../lib/names.ts';
import {
  allContainers,
  type Container,
  type EnvVar,
  type Pod,
  type Volume,
  type VolumeMount,
} from '../facts/pod.ts';
import type { ProofSettings } from '../profiles/types.ts';
import { runAsFor } from './ids.ts';
import type { ProofRequirements } from './proof-requirements.ts';
import { resourcesFor } from './resources.ts';
import { startupProbe } from './witness.ts';

const field = (name: string, fieldPath: string): EnvVar => ({
  name,
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } },
});

const annotationField = (key: string): string => `metadata.annotations['${key}']`;

const asksForInterfaces = (requirements: ProofRequirements): boolean =>
  requirements.words.includes('interfaces');

/**
 * Returns the init container for the requirements. It sets the fields that the API server would default, so that a
 * later call sees the same, and has the mount that the API server would add, so that there is no later call. The security context complies with Pod Security `restricted`.
 */
export function validatorFor(pod: Pod, requirements: ProofRequirements, proof: ProofSettings): Container {
  const { container, witness } = requirements;
  const resources = resourcesFor(pod, requirements, proof);
  const volumeMounts = mounts(pod, requirements);
  return {
    name: validatorContainer,
    ...programOf(pod, requirements, proof),
    ...(witness && { restartPolicy: 'Always', startupProbe: startupProbe(requirements) }),
    imagePullPolicy: proof.imagePullPolicy,
    env: environment(requirements, proof),
    ...(resources && { resources }),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      ...runAsFor(pod, requirements),
      seccompProfile: { type: 'RuntimeDefault' },
    },
    terminationMessagePath: '/dev/termination-log',
    // a network's own validator writes only to its log
    terminationMessagePolicy: container === undefined ? 'File' : 'FallbackToLogsOnError',
    ...(volumeMounts.length > 0 && { volumeMounts }),
  };
}

function mounts(pod: Pod, requirements: ProofRequirements): VolumeMount[] {
  const result: VolumeMount[] = [];
  if (asksForInterfaces(requirements))
    result.push({ name: podInfoVolume, mountPath: podInfoMountPath, readOnly: true });
  const token = tokenMount(pod);
  // last, as the API server adds it
  if (token !== undefined) result.push(token);
  return result;
}

/** Where the service account's token is mounted, and the prefix of its volume's name. */
const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const volumePrefix = 'kube-api-access-';

/**
 * The mount of the service account's token that the API server's ServiceAccount plugin would add to the init container;
 * undefined if it would add none, or if that is not known.
 *
 * The plugin runs before the webhooks, and again after a webhook changed the pod. If it then changes the pod itself, the
 * API server calls the webhooks a second time. The plugin is active for a pod if each container has a mount at its path.
 *
 * Source: Kubernetes `plugin/pkg/admission/serviceaccount/admission.go`, `mountServiceAccountToken`
 */
function tokenMount(pod: Pod): VolumeMount | undefined {
  const { volumes, automountServiceAccountToken } = pod.spec;
  const volume = volumes?.find(({ name }) => name.startsWith(volumePrefix));
  if (volume === undefined || automountServiceAccountToken === false) return undefined;
  const others = allContainers(pod).filter(({ name }) => name !== validatorContainer);
  const isActive = others.every(({ volumeMounts }) =>
    volumeMounts?.some((mount) => mount.mountPath === tokenPath),
  );
  return isActive ? { name: volume.name, readOnly: true, mountPath: tokenPath } : undefined;
}

/** What the container runs: our validator, or the network's own, whose image may come from the pod. */
function programOf(pod: Pod, { container }: ProofRequirements, proof: ProofSettings): Partial<Container> {
  if (container === undefined) return { image: proof.image, args: [validateCommand] };
  const { imageOf, command, args } = container;
  const image = container.image ?? allContainers(pod).find(({ name }) => name === imageOf)?.image;
  return { ...(image && { image }), ...(command && { command }), ...(args && { args }) };
}

function environment(requirements: ProofRequirements, proof: ProofSettings): EnvVar[] {
  // empty for a network's own validator: the variable marks the container as ours
  const result: EnvVar[] = [{ name: env.checks, value: requirements.checksJson || '[]' }];
  if (requirements.container !== undefined) return result;
  if (proof.mode === 'warn') result.push({ name: env.mode, value: 'warn' });
  // an init container sees status.podIPs as environment variable, never as a volume file
  if (requirements.words.some((word) => word !== 'reach')) result.push(field(env.podIPs, 'status.podIPs'));
  if (['roundTrip', 'witness'].some((word) => requirements.words.includes(word)))
    result.push(field(env.nodeIPs, 'status.hostIPs'));
  if (asksForInterfaces(requirements)) {
    result.push(
      field(env.podNamespace, 'metadata.namespace'),
      field(env.networks, annotationField(foreign.networks)),
      { name: env.networkStatusFile, value: `${podInfoMountPath}/${networkStatusPath}` },
    );
  }
  return result;
}

/**
 * The volume that the requirements need, if any. Multus writes `network-status` while the sandbox is created, which is
 * too late for an environment variable: only a file is updated.
 */
export function volumeFor(requirements: ProofRequirements): Volume | undefined {
  if (!asksForInterfaces(requirements)) return undefined;
  return {
    name: podInfoVolume,
    downwardAPI: {
      items: [
        {
          path: networkStatusPath,
          fieldRef: { apiVersion: 'v1', fieldPath: annotationField(foreign.networkStatus) },
        },
      ],
      defaultMode: 0o644,
    },
  };
}
