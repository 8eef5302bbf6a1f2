import type { NodeFacts } from '../facts/node.ts';

interface Boot {
  bootID: string;
  /** The Node's first resourceVersion with this boot id, and when; undefined for the first known boot. */
  changed: { version: string; at: number } | undefined;
}

/**
 * For how long after a boot, in milliseconds, a Ready pod is not trusted if it has containers from before the boot. A
 * kubelet updates its pods within seconds (4.3 s for 64 pods). The limit keeps a mistake from blocking a node forever.
 */
export const longestStale = 60_000;

const number = /^\d+$/;

/** Whether the first resourceVersion was written before the second. Both have to be numbers (KEP-5504). */
export const isBefore = (version: string, than: string): boolean =>
  number.test(version) && number.test(than) && BigInt(version) < BigInt(than);

/**
 * Finds out whether a pod's containers were started since its node booted: after a reboot, a pod's status shows Ready
 * and the old containers until the kubelet updates it. Containers that the pod had before the Node showed its new boot
 * id are gone. A new process has seen no boot, and considers all containers current.
 */
export class Boots {
  readonly #boots = new Map<string, Boot>();

  /** @param now milliseconds since the epoch, like all times here @returns whether the node has booted */
  node({ name, bootID, version }: NodeFacts, now: number): boolean {
    const before = this.#boots.get(name);
    // a Node without a boot id has no status from its kubelet yet, so the kubelet cannot have started anything
    if (bootID === '') return false;
    if (before?.bootID === bootID) return false;
    this.#boots.set(name, { bootID, changed: before && { version, at: now } });
    return before !== undefined;
  }

  forget(node: string): void {
    this.#boots.delete(node);
  }

  /**
   * Whether a boot was seen at most `longestStale` ago, and the pod has no container, or one from before it.
   * @param versions the resourceVersions of the pod that first showed each of its containers
   */
  isStale(node: string, versions: readonly string[], now: number): boolean {
    const changed = this.#boots.get(node)?.changed;
    if (changed === undefined || now - changed.at > longestStale) return false;
    return versions.length === 0 || versions.some((version) => isBefore(version, changed.version));
  }
}
