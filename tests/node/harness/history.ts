import { EventEmitter, once } from 'node:events';
import type { Cluster } from '../../cluster/harness/cluster.ts';
import { isReady, latestProof, type Pod } from './workload.ts';

export interface NodeWrite {
  /** `metadata.resourceVersion`. Objects of all kinds share one counter, which is etcd's. */
  version: bigint;
  bootID: string;
  ready: boolean;
}

/** A version of a pod that the watch delivered. */
export interface PodWrite {
  version: bigint;
  /** When the watch delivered this version, in ms since 1970. Only for output: the order is that of `version`. */
  seen: number;
  uid: string;
  namespace: string;
  name: string;
  node: string | undefined;
  ready: boolean;
  phase: string;
  leaving: boolean;
  /** The pod's IP address, once it has one. */
  address: string | undefined;
  /** The latest run of the validator that has ended. */
  proof: { id: string; exitCode: number } | undefined;
  containers: string[];
  /** The scheduler's message about a refused binding. */
  refusal: string | undefined;
}

interface ApiNode {
  metadata: { resourceVersion: string };
  status: { nodeInfo: { bootID: string }; conditions: { type: string; status: string }[] };
}

type ApiPod = Pod & {
  metadata: { namespace: string; resourceVersion: string; deletionTimestamp?: string };
  status: { phase: string };
  spec: { nodeName?: string };
};

/** Records every version of one node and of all pods, from two watches. Each list is in the order of the versions. */
export class History {
  readonly nodes: NodeWrite[] = [];
  readonly pods: PodWrite[] = [];
  /** The latest version of each existing pod, by UID. */
  readonly current = new Map<string, PodWrite>();
  readonly #watching = new AbortController();
  readonly #news = new EventEmitter();
  #failure: unknown;

  /** @param node the node whose versions are recorded */
  constructor({ api }: Cluster, node: string) {
    const { signal } = this.#watching;
    const nodePath = `/api/v1/nodes?fieldSelector=metadata.name%3D${node}`;
    this.#record(api.watch<ApiNode>(nodePath, signal), ({ metadata, status }) =>
      this.nodes.push({
        version: BigInt(metadata.resourceVersion),
        bootID: status.nodeInfo.bootID,
        ready: status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
      }),
    );
    this.#record(api.watch<ApiPod>('/api/v1/pods', signal), (pod, type) => this.#addPod(pod, type));
  }

  #addPod(pod: ApiPod, type: string): void {
    const write = writeOf(pod);
    if (type === 'DELETED') {
      this.current.delete(write.uid);
      return;
    }
    this.pods.push(write);
    this.current.set(write.uid, write);
  }

  /** Waits until `found` returns something. */
  async until<T>(found: (history: History) => T | undefined, seconds = 240): Promise<T> {
    const signal = AbortSignal.timeout(seconds * 1000);
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const result = found(this);
      if (result !== undefined) return result;
      await once(this.#news, 'write', { signal }).catch(() => {
        throw new Error(`not written within ${seconds} s: ${found}`);
      });
    }
  }

  stop(): void {
    this.#watching.abort();
  }

  async #record<T>(
    events: AsyncIterable<{ type: string; object: T }>,
    add: (object: T, type: string) => void,
  ): Promise<void> {
    try {
      for await (const { type, object } of events) {
        if (type === 'ERROR') break;
        add(object, type);
        this.#news.emit('write');
      }
      this.#failure = new Error('a watch ended: writes may be missing');
    } catch (error) {
      this.#failure = error;
    }
    this.#news.emit('write');
  }
}

function writeOf(pod: ApiPod): PodWrite {
  const { metadata, spec, status } = pod;
  const scheduled = status.conditions?.find(({ type }) => type === 'PodScheduled');
  return {
    version: BigInt(metadata.resourceVersion),
    seen: Date.now(),
    uid: metadata.uid,
    namespace: metadata.namespace,
    name: metadata.name,
    node: spec.nodeName,
    ready: isReady(pod),
    phase: status.phase,
    leaving: metadata.deletionTimestamp !== undefined,
    address: status.podIP,
    proof: latestProof(pod),
    containers: (status.containerStatuses ?? []).flatMap(({ containerID }) => containerID ?? []),
    refusal: scheduled?.message?.includes('denied the request') ? scheduled.message : undefined,
  };
}
