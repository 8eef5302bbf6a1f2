import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Continuous, env } from '../../../validator/shared/contract.ts';
import type { Container, Pod } from '../../../webhook/core/facts/pod.ts';
import type { Configuration, ProofMode } from '../../../webhook/core/profiles/types.ts';
import { podAddress, serviceAddress } from './addresses.ts';
import { type ContainerEnd, type RunningContainer, startContainer } from './container.ts';
import { downwardVolume, environmentOf } from './downward.ts';
import { injected, type PodSpecimen } from './pods.ts';
import type { Sandbox } from './sandbox.ts';

/** The program in the validator's image, and its path in the container. */
export const validator = fileURLToPath(new URL('../../../dist/host/cni-gate-validator', import.meta.url));
const program = '/cni-gate-validator';
/** The user of the image, which applies if neither the pod nor the webhook sets a user. */
const imageUser = 64_532;

/** Differences from a start by the webhook and the kubelet. */
export interface ProofOptions {
  /** A user and group ID that replaces the container's, as if a policy had overwritten them. */
  user?: number;
  podIPs?: string[];
  /** The annotation `network-status` at the start of the container. */
  networkStatus?: string;
  mode?: ProofMode;
  configuration?: Configuration;
  nameServers?: string[];
  /** The settings of rechecks. */
  continuous?: Continuous;
  /** A file or named pipe of the machine that gets the termination message instead of the container's own file. */
  messageTo?: string;
}

export interface RunningProof extends Omit<RunningContainer, 'ended'> {
  ended: Promise<Proof>;
  /** Changes the annotation `network-status`, and with it the file in the container. */
  setNetworkStatus(text: string): void;
}

export interface Proof extends ContainerEnd {
  message: Message;
}

export interface Message {
  verdict: string;
  code: number;
  sandbox: { netns: number | string; bootId: string };
  checks: {
    profile: string;
    check: string;
    family?: string;
    passed: boolean;
    reason?: string;
    note?: string;
  }[];
}

/** Starts the validator in a sandbox, as the container that the webhook injects into the specimen. */
export function startProof(
  sandbox: Sandbox,
  specimen: PodSpecimen,
  options: ProofOptions = {},
): RunningProof {
  const { pod, container } = injected(specimen, options.mode, options.configuration);
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-netns-'));
  sandbox.onRemoval(() => rmSync(folder, { recursive: true, force: true }));
  const mount = container.volumeMounts?.[0]?.mountPath;
  const setNetworkStatus = downwardVolume(
    join(folder, 'podinfo'),
    'network-status',
    options.networkStatus ?? '',
  );
  const resolvConf = join(folder, 'resolv.conf');
  const servers = options.nameServers?.map((address) => `nameserver ${address}\n`);
  if (servers) writeFileSync(resolvConf, servers.join(''));
  const podIPs = options.podIPs ?? sandbox.familyList.map((family) => podAddress[family]);
  const elsewhere = options.messageTo === undefined ? [] : ['--termination-log', '/message'];
  const running = startContainer(sandbox, {
    program,
    args: [...(container.args ?? []), ...elsewhere],
    mounts: {
      [program]: validator,
      ...(options.messageTo !== undefined && { '/message': options.messageTo }),
      ...(servers && { '/etc/resolv.conf': resolvConf }),
      ...(mount !== undefined && { [mount]: join(folder, 'podinfo') }),
    },
    environment: {
      ...environmentOf(
        container,
        { pod, podIPs },
        {
          KUBERNETES_SERVICE_HOST: serviceAddress[sandbox.families === 'ipv6' ? 'ipv6' : 'ipv4'],
          KUBERNETES_SERVICE_PORT: '443',
        },
      ),
      ...(options.continuous && { [env.continuous]: JSON.stringify(options.continuous) }),
    },
    ...identityOf(pod, container, options.user),
  });
  return {
    ...running,
    ended: running.ended.then((end) => ({
      ...end,
      message: messageOf(options.messageTo === undefined ? end : { ...end, termination: '{}' }),
    })),
    setNetworkStatus,
  };
}

/** The user and group as the kubelet sets them: a user without a group gets group 0, except the image's user. */
function identityOf(
  pod: Pod,
  container: Container,
  forced: number | undefined,
): { user: number; group: number } {
  const { runAsUser } = container.securityContext ?? {};
  const ofPod = pod.spec.securityContext;
  const runAsGroup = container.securityContext?.runAsGroup ?? ofPod?.runAsGroup;
  const user = forced ?? runAsUser ?? ofPod?.runAsUser ?? imageUser;
  if (user === 0) throw new Error('the kubelet refuses: runAsNonRoot, and the user is root');
  return { user, group: forced ?? runAsGroup ?? (user === imageUser ? imageUser : 0) };
}

function messageOf(end: ContainerEnd): Message {
  try {
    return JSON.parse(end.termination);
  } catch {
    throw new Error(`no termination message, but "${end.termination}"; ended with ${end.code}:\n${end.log}`);
  }
}
