import type { AgentFacts, NodeFacts } from './facts.ts';

/** When something was observed. */
interface Observed {
  /** `metadata.resourceVersion`. */
  version: string;
  /** The order of arrival. */
  arrival: number;
  /** Milliseconds since the epoch. */
  at: number;
}

interface Boot {
  bootID: string;
  /** When the id was observed to change; undefined if the node was unknown before. */
  changed: (Observed & { listed: boolean }) | undefined;
}

/** How many deleted nodes are remembered: one that returns with the same name has booted since. */
const mostGone = 1000;

/**
 * How long after a boot a Ready pod with possibly old containers is distrusted, in milliseconds. A kubelet that has
 * written its boot id writes the status of its pods within seconds (4.3 s measured with 64 pods). Without a bound, a
 * container that was mistaken for an old one would hold its node until it restarts.
 */
export const longestStale = 20_000;

/**
 * Containers that were observed this long before the boot id changed, in milliseconds, are certainly old if an event
 * reported the change. A kubelet whose write of the Node failed retries after ten seconds at most, and may report a new
 * container meanwhile.
 */
export const bootGracePeriod = 10_000;

/**
 * Whether the first was written before the second. Versions of different kinds can be compared if both are numbers, as in
 * etcd (KEP-5504, for all resources). Otherwise the order of arrival counts.
 */
export function isBefore(one: Omit<Observed, 'at'>, other: Omit<Observed, 'at'>): boolean {
  const number = /^\d+$/;
  return number.test(one.version) && number.test(other.version)
    ? BigInt(one.version) < BigInt(other.version)
    : one.arrival < other.arrival;
}

/**
 * Knows whether a pod's containers were started in the current boot of its node. After a reboot, a pod shows Ready with
 * the containers of the previous boot until the kubelet updates it, and the times of conditions do not prove an order.
 * The resource version does: containers that the pod had before the Node's first version with the new boot id are gone.
 *
 * The state is in memory: a process that starts between the new boot id and the kubelet's next status takes what it
 * finds for the current boot.
 */
export class Boots {
  readonly #boots = new Map<string, Boot>();
  readonly #gone = new Set<string>();
  /** When each container that a pod has now was first observed: by the pod's UID, then by the container's ID. */
  readonly #containers = new Map<string, ReadonlyMap<string, Observed>>();
  #arrival = 0;

  /**
   * @param listed whether it comes from a list, whose version may be later than that of the boot
   * @param now milliseconds since the epoch, as below
   */
  node({ name, bootID, version }: NodeFacts, listed: boolean, now: number): void {
    this.#gone.delete(name);
    const before = this.#boots.get(name);
    // a Node without a boot id was not written by its kubelet yet, so nothing was started there
    if (before?.bootID === bootID || bootID === '') return;
    const changed = before === undefined ? undefined : { version, arrival: this.#arrival++, at: now, listed };
    this.#boots.set(name, { bootID, changed });
  }

  /** Records a deleted Node: a Node of the same name, on this machine or another, no longer runs the old containers. */
  nodeGone(name: string): void {
    this.#gone.add(name);
    if (this.#gone.size <= mostGone) return;
    const [oldest = ''] = this.#gone;
    this.#gone.delete(oldest);
    this.#boots.delete(oldest);
  }

  /** When the node was last seen to boot; undefined if it was not. */
  seen(node: string): number | undefined {
    return this.#boots.get(node)?.changed?.at;
  }

  agent({ uid, version, containers }: AgentFacts, now: number): void {
    const before = this.#containers.get(uid);
    const observed = { version, arrival: this.#arrival++, at: now };
    this.#containers.set(uid, new Map(containers.map((id) => [id, before?.get(id) ?? observed])));
  }

  forgetAgent(uid: string): void {
    this.#containers.delete(uid);
  }

  /**
   * Returns when the boot was observed in which certainly no container of this pod was started; undefined if one was,
   * or may have been.
   */
  staleSince({ uid, node }: AgentFacts, now: number): number | undefined {
    const changed = this.#boots.get(node)?.changed;
    if (changed === undefined) return undefined;
    const containers = [...(this.#containers.get(uid)?.values() ?? [])];
    const old = containers.filter((one) => isBefore(one, changed));
    if (containers.length > 0 && old.length === 0) return undefined;
    const isSure = !changed.listed && old.some(({ at }) => changed.at - at >= bootGracePeriod);
    return isSure || now - changed.at <= longestStale ? changed.at : undefined;
  }
}
