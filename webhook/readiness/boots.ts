import type { AgentFacts, NodeFacts } from './facts.ts';
import { isBefore, type Moment } from './versions.ts';

interface Boot {
  bootID: string;
  /** When the id was seen to change; undefined where the node was not known before. */
  changed: Moment | undefined;
}

interface Seen extends Moment {
  containers: ReadonlySet<string>;
}

/** Of each pod, so many states of its containers are kept: one before a boot, some while it comes up. */
const mostSeen = 6;

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
  readonly #seen = new Map<string, Seen[]>();
  #arrival = 0;

  node({ name, bootID, version }: NodeFacts): void {
    const before = this.#boots.get(name);
    // a Node that the kubelet has not written to yet has no boot id: nothing can have been started in it
    if (before?.bootID === bootID || bootID === '') return;
    const changed = before === undefined ? undefined : { version, arrival: this.#arrival++ };
    this.#boots.set(name, { bootID, changed });
  }

  forgetNode(name: string): void {
    this.#boots.delete(name);
  }

  agent({ uid, version, containers }: AgentFacts): void {
    const seen = this.#seen.get(uid) ?? [];
    const last = seen.at(-1);
    const same =
      last?.containers.size === containers.length && containers.every((id) => last.containers.has(id));
    if (same) return;
    const now = { version, arrival: this.#arrival++, containers: new Set(containers) };
    this.#seen.set(uid, [...seen, now].slice(-mostSeen));
  }

  forgetAgent(uid: string): void {
    this.#seen.delete(uid);
  }

  /** Whether a container of this pod was started in the present boot of its node, as far as one can know. */
  startedSince({ uid, node, containers }: AgentFacts): boolean {
    const changed = this.#boots.get(node)?.changed;
    if (changed === undefined) return true;
    const before = (this.#seen.get(uid) ?? []).filter((seen) => isBefore(seen, changed));
    return containers.length > 0 && !containers.some((id) => before.some((seen) => seen.containers.has(id)));
  }
}
