import { profileLabel, validatorContainer } from '../../../webhook/lib/names.ts';
import type { Cluster } from '../../cluster/harness/cluster.ts';
import { namespace as namespaceObject, workload } from '../../cluster/harness/objects.ts';
import { standIn } from '../images/images.ts';
import type { Image } from '../images/layout.ts';

interface ContainerStatus {
  name: string;
  containerID?: string;
  restartCount: number;
  state: ContainerState;
  lastState?: ContainerState;
}

interface ContainerState {
  running?: object;
  terminated?: { containerID: string; exitCode: number; message?: string };
}

export interface Pod {
  metadata: { name: string; uid: string };
  status: {
    podIP?: string;
    conditions?: { type: string; status: string; message?: string }[];
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
  };
}

/** A Deployment of one pod that belongs to a mesh, in its own namespace. */
export class Workload {
  readonly namespace: string;
  /** Images of its containers. No other workload uses them, so they identify its containers in containerd's records. */
  readonly images: Image[];
  readonly #cluster: Cluster;
  readonly #pods: string;

  constructor(cluster: Cluster, namespace: string) {
    this.#cluster = cluster;
    this.namespace = namespace;
    this.#pods = `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3Dweb`;
    this.images = [
      standIn(`localhost/${namespace}-app:test`, 'app.ts'),
      standIn(`localhost/${namespace}-proxy:test`, 'proxy.ts'),
    ];
  }

  /** @param elsewhere the URL that the application calls */
  async create(elsewhere: string, profile?: string): Promise<void> {
    const labels = profile === undefined ? {} : { [profileLabel]: profile };
    await this.#cluster.apply(namespaceObject(this.namespace, labels), this.#deployment(elsewhere));
  }

  /** Waits until `found` accepts the pod. @param seconds how long to wait at most */
  until(found: (pod: Pod) => unknown, seconds = 60): Promise<Pod> {
    return this.#cluster.api.until<Pod>(this.#pods, (pod, type) => type !== 'DELETED' && found(pod), seconds);
  }

  /** Deletes the pod, and waits until the pod that replaces it is Ready. */
  async remake(): Promise<Pod> {
    const { items } = await this.#cluster.api.get<{ items: Pod[] }>(this.#pods);
    const old = items.map(({ metadata }) => metadata.uid);
    await this.#cluster.api.delete(this.#pods);
    return this.until((pod) => !old.includes(pod.metadata.uid) && isReady(pod));
  }

  #deployment(elsewhere: string): object {
    const [app, proxy] = this.images.map(({ name }) => name);
    const containers = [
      {
        name: 'web',
        image: app,
        env: [{ name: 'ELSEWHERE', value: elsewhere }],
        readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 },
      },
      // the container that linkerd's injector would have added
      { name: 'linkerd-proxy', image: proxy, securityContext: { runAsUser: 2102 } },
    ];
    return workload('Deployment', 'web', { namespace: this.namespace, spec: { containers } });
  }
}

export function isReady({ status }: Pod): boolean {
  return (status.conditions ?? []).some(
    (condition) => condition.type === 'Ready' && condition.status === 'True',
  );
}

export function containersOf({ status }: Pod): { id: string | undefined; running: boolean }[] {
  return (status.containerStatuses ?? []).map(({ containerID, state }) => ({
    id: withoutScheme(containerID),
    running: state.running !== undefined,
  }));
}

export interface Proof {
  id: string | undefined;
  exitCode: number;
  message: string;
  /** How often the container was started again, including after reboots of the node. */
  restarts: number;
}

export function proofOf({ status }: Pod): Proof | undefined {
  const own = status.initContainerStatuses?.find(({ name }) => name === validatorContainer);
  if (own?.state.terminated === undefined) return undefined;
  const { containerID, exitCode, message = '' } = own.state.terminated;
  return { id: withoutScheme(containerID), exitCode, message, restarts: own.restartCount };
}

/** The latest ended run of the validator, even if another run has begun. */
export function latestProof({ status }: Pod): { id: string; exitCode: number } | undefined {
  const own = status.initContainerStatuses?.find(({ name }) => name === validatorContainer);
  const { containerID: id, exitCode } = own?.state.terminated ?? own?.lastState?.terminated ?? {};
  return id === undefined || exitCode === undefined ? undefined : { id, exitCode };
}

/** Removes the scheme from `containerd://ID`, because containerd's own records contain only the ID. */
const withoutScheme = (id: string | undefined): string | undefined => id?.split('//')[1];

/** What answers when the pod's application calls a server outside of the pod: the proxy, or that server. */
export const whoAnswers = ({ status }: Pod): Promise<string> => whoAnswersAt(status.podIP);

export async function whoAnswersAt(address: string | undefined): Promise<string> {
  return (await fetch(`http://${address}:8080/who`)).text();
}
