import { evictOldest } from '../../lib/maps.ts';
import type { AgentFacts, NodeFacts } from '../facts/node.ts';

interface Boot {
  bootID: string;
  /** The Node's first version with this boot id, and when it was observed; undefined if the node was unknown before. */
  changed: { version: string; at: number } | undefined;
}

/** At most this many nodes are remembered, including deleted ones, which may return under their names after a boot. */
const most = 30_000;

/**
 * For how many milliseconds after a boot a Ready pod with old containers is not trusted. A kubelet writes the status of
 * its pods within seconds (4.3 s measured with 64 pods). Without the bound, a mistake would block the node for ever.
 */
export const longestStale = 60_000;

const number = /^\d+$/;

/** Whether the first resourceVersion was written before the second. Both have to be numbers (KEP-5504). */
export const isBefore = (version: string, than: string): boolean =>
  number.test(version) && number.test(than) && BigInt(version) < BigInt(than);

/**
 * Finds out whether a pod's containers were started in the current boot of its node. After a reboot, a pod shows Ready
 * with the containers of the previous boot until the kubelet updates it. Containers that the pod had before the Node's
 * first version with the new boot id are gone. A new process knows of no boot, and takes all containers for current.
 */
export class Boots {
  readonly #boots = new Map<string, Boot>();
  /** By the pod's UID, then by the container's id: the pod's version in which the container was first observed. */
  readonly #containers = new Map<string, ReadonlyMap<string, string>>();

  /** @param now milliseconds since the epoch, like all times here */
  node({ name, bootID, version }: NodeFacts, now: number): void {
    const before = this.#boots.get(name);
    // a Node without a boot id has no status from its kubelet yet, so the kubelet has started nothing
    if (bootID === '') return;
    const isSame = before?.bootID === bootID;
    // the node moves to the end of the map, so that existing nodes are not evicted first
    this.#boots.delete(name);
    this.#boots.set(name, isSame ? before : { bootID, changed: before && { version, at: now } });
    evictOldest(this.#boots, most);
  }

  /** When this process last observed that the node had booted; undefined if it did not. */
  seen(node: string): number | undefined {
    return this.#boots.get(node)?.changed?.at;
  }

  agent({ uid, version, containers }: AgentFacts): void {
    const before = this.#containers.get(uid);
    this.#containers.set(uid, new Map(containers.map((id) => [id, before?.get(id) ?? version])));
  }

  forgetAgent(uid: string): void {
    this.#containers.delete(uid);
  }

  /** When the node's last boot was observed, if no container of the pod started in it; undefined if one may have. */
  staleSince({ uid, node }: AgentFacts, now: number): number | undefined {
    const changed = this.#boots.get(node)?.changed;
    if (changed === undefined || now - changed.at > longestStale) return undefined;
    const versions = [...(this.#containers.get(uid)?.values() ?? [])];
    const isNew = versions.length > 0 && !versions.some((version) => isBefore(version, changed.version));
    return isNew ? undefined : changed.at;
  }
}
