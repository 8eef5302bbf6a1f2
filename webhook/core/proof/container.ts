import { env } from '../../../validator/shared/contract.ts';
import { parseDuration } from '../../../validator/shared/duration.ts';
import {
  foreign,
  networkStatusPath,
  podInfoMountPath,
  podInfoVolume,
  validatorContainer,
} from '../../lib/names.ts';
import type { Container, EnvVar, Volume } from '../facts/pod.ts';
import type { ProofSettings } from '../profiles/types.ts';
import type { ProofPlan } from './plan.ts';

/**
 * Returns the init container of a plan and the volume that it needs, if any; undefined if the plan has no checks. The
 * container already has the defaults and the token mount: if the API server added them, it would call the webhooks a
 * second time. The container meets Pod Security `restricted`.
 */
export function injectionFor(
  plan: ProofPlan,
  proof: ProofSettings,
): { container: Container; volume: Volume | undefined } | undefined {
  if (plan.checkNames.length === 0) return undefined;
  const { program, witness, continuous, resources, ownValidator } = plan;
  const volume = plan.checkNames.includes('interfaces') ? podInfo() : undefined;
  // the token's mount is last, where the API server would add it
  const volumeMounts = [...(volume ? [podInfoMount()] : []), ...(plan.tokenMount ? [plan.tokenMount] : [])];
  const container = {
    name: validatorContainer,
    ...program,
    ...(witness && { restartPolicy: 'Always', startupProbe: startupProbe(plan, witness.port) }),
    ...(continuous?.port && { readinessProbe: readinessProbe(continuous.interval, continuous.port) }),
    imagePullPolicy: proof.imagePullPolicy,
    env: environment(plan, proof),
    ...(resources && { resources }),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      ...plan.runAs,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    terminationMessagePath: '/dev/termination-log',
    // a network's own validator writes no termination message, only a log
    terminationMessagePolicy: ownValidator ? 'FallbackToLogsOnError' : 'File',
    ...(volumeMounts.length > 0 && { volumeMounts }),
  };
  return { container, volume };
}

/** The probe with which the kubelet connects. It must not fail during the checks: that would restart the container. */
function startupProbe({ checks }: ProofPlan, port: number): object {
  const timeouts = checks.flatMap(({ profile: _, ...check }) =>
    Object.values<{ timeout: string }>(check).map(({ timeout }) => parseDuration(timeout) ?? 0),
  );
  return {
    tcpSocket: { port },
    timeoutSeconds: 1,
    periodSeconds: 1,
    successThreshold: 1,
    failureThreshold: Math.ceil(Math.max(...timeouts) / 1000) * 2 + 30,
  };
}

/**
 * The probe of a port that is open unless the network is lost. After three failures, the pod is not ready: this takes
 * up to three tenths of the recheck interval, but at least three seconds. A restarted kubelet spreads its first probes
 * over one period, so the period is short.
 */
function readinessProbe(interval: string, port: number): object {
  return {
    tcpSocket: { port },
    timeoutSeconds: 1,
    periodSeconds: Math.min(10, Math.max(1, Math.floor((parseDuration(interval) ?? 0) / 10_000))),
    successThreshold: 1,
    failureThreshold: 3,
  };
}

/** A variable whose value is a field of the pod. */
export const field = (name: string, fieldPath: string): EnvVar => ({
  name,
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } },
});

const annotationField = (key: string): string => `metadata.annotations['${key}']`;

function environment(
  { checks, checkNames, continuous, ownValidator }: ProofPlan,
  proof: ProofSettings,
): EnvVar[] {
  // for a network's own validator, the list is empty: the variable only marks the container as ours
  const result: EnvVar[] = [{ name: env.checks, value: JSON.stringify(checks) }];
  if (ownValidator) return result;
  if (proof.mode === 'warn') result.push({ name: env.mode, value: 'warn' });
  if (continuous) result.push({ name: env.continuous, value: JSON.stringify(continuous) });
  // an init container can get status.podIPs in an environment variable, but never in a file of a volume
  if (checkNames.some((name) => name !== 'reach')) result.push(field(env.podIPs, 'status.podIPs'));
  if (['roundTrip', 'witness'].some((name) => checkNames.includes(name)))
    result.push(field(env.nodeIPs, 'status.hostIPs'));
  if (checkNames.includes('interfaces')) result.push(...interfacesVariables());
  return result;
}

/** The variables for the check `interfaces`. */
export const interfacesVariables = (): EnvVar[] => [
  field(env.podNamespace, 'metadata.namespace'),
  field(env.networks, annotationField(foreign.networks)),
  { name: env.networkStatusFile, value: `${podInfoMountPath}/${networkStatusPath}` },
];

export const podInfoMount = () => ({ name: podInfoVolume, mountPath: podInfoMountPath, readOnly: true });

/** The volume with `network-status`. Multus writes this annotation too late for an environment variable. */
export const podInfo = (): Volume => ({
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
});
