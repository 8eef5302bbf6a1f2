import { evictOldest } from '../../lib/maps.ts';
import type { AgentFacts, NodeFacts } from '../facts/node.ts';

interface Boot {
  bootID: string;
  /** The Node's first version with it, and when that was observed; undefined if the node was unknown before. */
  changed: { version: string; at: number } | undefined;
}

/** How many nodes are remembered, with deleted ones: one that returns with the same name has booted since. */
const most = 30_000;

/**
 * How long after a boot a Ready pod with old containers is distrusted, in milliseconds: a kubelet writes the status of
 * its pods within seconds (4.3 s measured with 64 pods). Without a bound, a mistake would hold the node for ever.
 */
export const longestStale = 60_000;

const number = /^\d+$/;

/** Whether the first resourceVersion was written before the second: both are numbers (KEP-5504). */
export const isBefore = (version: string, than: string): boolean =>
  number.test(version) && number.test(than) && BigInt(version) < BigInt(than);

/**
 * Knows whether a pod's containers were started in the current boot of its node. After a reboot, a pod shows Ready with
 * the containers of the previous boot until the kubelet updates it. Containers that the pod had before the Node's first
 * version with the new boot id are gone. All in memory: a new process takes what it finds for the current boot.
 */
export class Boots {
  readonly #boots = new Map<string, Boot>();
  /** The version in which each container that a pod has now was first observed: by the pod's UID, then by its ID. */
  readonly #containers = new Map<string, ReadonlyMap<string, string>>();

  /** @param now milliseconds since the epoch, as below */
  node({ name, bootID, version }: NodeFacts, now: number): void {
    const before = this.#boots.get(name);
    // a Node without a boot id was not written by its kubelet yet, so nothing was started there
    if (bootID === '') return;
    const isSame = before?.bootID === bootID;
    // the latest is last, so that nodes which exist are not forgotten
    this.#boots.delete(name);
    this.#boots.set(name, isSame ? before : { bootID, changed: before && { version, at: now } });
    evictOldest(this.#boots, most);
  }

  /** When the node was last seen to boot; undefined if it was not. */
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

  /** Returns when the boot was observed in which no container of this pod was started; undefined if one was, or may be. */
  staleSince({ uid, node }: AgentFacts, now: number): number | undefined {
    const changed = this.#boots.get(node)?.changed;
    if (changed === undefined || now - changed.at > longestStale) return undefined;
    const versions = [...(this.#containers.get(uid)?.values() ?? [])];
    const isNew = versions.length > 0 && !versions.some((version) => isBefore(version, changed.version));
    return isNew ? undefined : changed.at;
  }
}
