import type { AgentFacts, NodeFacts } from './facts.ts';
import { isBefore, type Moment } from './versions.ts';

interface Boot {
  bootID: string;
  /** When the id was seen to change; undefined where the node was not known before. */
  changed: (Observed & { listed: boolean }) | undefined;
}

/** Something that was seen, and when it came here: milliseconds since the epoch. */
interface Observed extends Moment {
  at: number;
}

interface ContainerObservation extends Observed {
  containers: ReadonlySet<string>;
}

/** Of each pod, so many states of its containers are kept: one before a boot, some while it comes up. */
const maxObservations = 6;

/** So many nodes that went are remembered: one that comes back by the same name has booted since. */
const mostGone = 1000;

/**
 * How long after a boot a pod is not believed that reads Ready with containers that may be of before, in milliseconds.
 * A kubelet that has written its boot id writes what became of its pods within seconds (4.3 s with 64 pods were
 * measured); what still stands after several times that is how things are. Without a bound, a container that was taken
 * for an old one would hold its node until it is started again.
 */
export const longestStale = 20_000;

/**
 * Containers that were seen so long before the boot id changed, in milliseconds, are of before for sure, where an
 * event told of the change. A kubelet whose write of the Node failed tries again after ten seconds at most, and may
 * tell of a new container meanwhile.
 */
export const surelyOld = 10_000;

/**
 * Knows for a pod whether its containers were started in the present boot of its node. After a reboot a pod reads
 * Ready with the containers of the boot before, until the kubelet has looked; and the times of conditions order
 * nothing. What orders is the version of the Node that first had the new boot id: containers that were there before
 * it are gone.
 *
 * Memory of this process alone: one that starts in the seconds between the new boot id and the kubelet's next
 * status takes what it finds for the present boot.
 */
export class Boots {
  readonly #boots = new Map<string, Boot>();
  readonly #gone = new Set<string>();
  readonly #observations = new Map<string, ContainerObservation[]>();
  #arrival = 0;

  /**
   * @param listed whether a list told of it, whose version may be a later one than that of the boot
   * @param now milliseconds since the epoch, as below
   */
  node({ name, bootID, version }: NodeFacts, listed: boolean, now: number): void {
    this.#gone.delete(name);
    const before = this.#boots.get(name);
    // a Node that the kubelet has not written to yet has no boot id: nothing can have been started in it
    if (before?.bootID === bootID || bootID === '') return;
    const changed = before === undefined ? undefined : { version, arrival: this.#arrival++, at: now, listed };
    this.#boots.set(name, { bootID, changed });
  }

  /** A Node went; what comes back by its name is the same machine, or another: neither runs what ran before. */
  nodeGone(name: string): void {
    this.#gone.add(name);
    if (this.#gone.size <= mostGone) return;
    const [oldest = ''] = this.#gone;
    this.#gone.delete(oldest);
    this.#boots.delete(oldest);
  }

  agent({ uid, version, containers }: AgentFacts, now: number): void {
    const seen = this.#observations.get(uid) ?? [];
    const last = seen.at(-1);
    const same =
      last?.containers.size === containers.length && containers.every((id) => last.containers.has(id));
    if (same) return;
    const state = { version, arrival: this.#arrival++, at: now, containers: new Set(containers) };
    this.#observations.set(uid, [...seen, state].slice(-maxObservations));
  }

  forgetAgent(uid: string): void {
    this.#observations.delete(uid);
  }

  /**
   * When the boot was observed in which no container of this pod was started, as far as one can know; undefined where
   * one was, or may have been.
   */
  staleSince({ uid, node, containers }: AgentFacts, now: number): number | undefined {
    const changed = this.#boots.get(node)?.changed;
    if (changed === undefined) return undefined;
    const before = (this.#observations.get(uid) ?? []).filter(
      (seen) => isBefore(seen, changed) && containers.some((id) => seen.containers.has(id)),
    );
    if (containers.length > 0 && before.length === 0) return undefined;
    const isSure = !changed.listed && before.some(({ at }) => changed.at - at >= surelyOld);
    return isSure || now - changed.at <= longestStale ? changed.at : undefined;
  }
}
