import { isBefore } from '../readiness/versions.ts';
import { BackOff, defaultTimes, Group, type SteerTimes } from './back-off.ts';
import type { Expected } from './node-usage.ts';
import type { PendingPod } from './pending-pod.ts';

/**
 * How a nomination ended. `left`: the pod no longer waits, mostly because it was bound; `ignored`: the scheduler cleared
 * the nomination and the pod still waits; `raced`: it was cleared so soon that the scheduler may not have seen it;
 * `replaced`: somebody wrote another one; `expired`: nobody reacted to it.
 */
export type Outcome = 'left' | 'ignored' | 'raced' | 'replaced' | 'expired';

/** A nomination whose outcome is known. */
export interface Ended {
  /** `namespace/name` */
  pod: string;
  node: string;
  outcome: Outcome;
}

/** A nomination whose outcome is not known yet. */
interface Open extends Expected {
  pod: string;
  at: number;
  /** The pod's version with the nomination. */
  version: string;
}

interface PodRecord {
  group: string;
  open: Open | undefined;
  backOff: BackOff;
  /** Nodes to avoid, by name, and until when. */
  avoid: Map<string, number>;
  raced: Set<string>;
  /** A version of the pod that is known to be outdated. */
  stale: string | undefined;
}

/** How long a pod that left counts on its node, in milliseconds. The node's pods are listed again before that. */
const remembered = 30_000;

/**
 * The leader's memory of nominations and their outcomes. A new leader begins without it, and repeats at most one
 * nomination of each pod. Pure: times are arguments, in milliseconds since the epoch.
 */
export class History {
  readonly #times: SteerTimes;
  readonly #pods = new Map<string, PodRecord>();
  readonly #groups = new Map<string, Group>();
  #left: Open[] = [];

  constructor(times: SteerTimes = defaultTimes) {
    this.#times = times;
  }

  /** A nomination was written. @param version the pod's with the nomination */
  made({ pod, node }: { pod: PendingPod; node: string }, version: string, now: number): void {
    const { uid, group, requests } = pod;
    const record = this.#record(pod);
    if (record.open === undefined) this.#group(record.group).open += 1;
    const name = `${pod.namespace}/${pod.name}`;
    record.open = { uid, node, group, requests, leftAt: undefined, pod: name, at: now, version };
  }

  /** The API server knows a newer version of the pod: nothing is done until the watch reports it. */
  stale(pod: PendingPod): void {
    this.#record(pod).stale = pod.version;
  }

  /** A nomination could not be written: the pod pauses. */
  failed(pod: PendingPod, now: number): void {
    this.#record(pod).backOff.failed(now);
  }

  /** Compares the pods that wait now with the open nominations. @returns the nominations that ended */
  observe(pending: ReadonlyMap<string, PendingPod>, now: number): Ended[] {
    this.#left = this.#left.filter(({ leftAt }) => leftAt !== undefined && now - leftAt < remembered);
    const ended: Ended[] = [];
    for (const [uid, record] of this.#pods) {
      const { open } = record;
      const pod = pending.get(uid);
      const outcome = open && outcomeOf(open, pod, now, this.#times, record.raced);
      if (open && outcome) {
        ended.push({ pod: open.pod, node: open.node, outcome });
        this.#close(record, open, outcome, now);
      }
      if (pod === undefined) this.#pods.delete(uid);
    }
    const groups = new Set(Array.from(pending.values(), ({ group }) => group));
    for (const [name, { backOff, open }] of this.#groups) {
      if (!groups.has(name) && open === 0 && backOff.notBefore <= now) this.#groups.delete(name);
    }
    return ended;
  }

  /** Whether a nomination of the pod is open, or a newer version of the pod has not been reported yet. */
  isBusy({ uid, version }: PendingPod): boolean {
    const record = this.#pods.get(uid);
    return record?.open !== undefined || record?.stale === version;
  }

  /** When the pod may be nominated again; in the past where it may be now. */
  notBefore({ uid, group }: PendingPod): number {
    const own = this.#pods.get(uid)?.backOff.notBefore ?? Number.NEGATIVE_INFINITY;
    return Math.max(own, this.#groups.get(group)?.backOff.notBefore ?? Number.NEGATIVE_INFINITY);
  }

  /** Whether the scheduler ignored a nomination of the pod for this node lately. */
  avoids({ uid }: PendingPod, node: string, now: number): boolean {
    return (this.#pods.get(uid)?.avoid.get(node) ?? Number.NEGATIVE_INFINITY) > now;
  }

  /** How many more of the pod's group may be nominated now. */
  width({ group, unverifiable }: PendingPod): number {
    if (!unverifiable) return Number.POSITIVE_INFINITY;
    const { window, open } = this.#groups.get(group) ?? new Group(this.#times);
    return window - open;
  }

  /** Pods that were nominated, by node: those that still wait, and those that left a moment ago. */
  expected(): Map<string, Expected[]> {
    const open = [...this.#pods.values()].flatMap((record) => record.open ?? []);
    return Map.groupBy([...open, ...this.#left], ({ node }) => node);
  }

  #group(name: string): Group {
    const group = this.#groups.get(name) ?? new Group(this.#times);
    this.#groups.set(name, group);
    return group;
  }

  #record({ uid, group }: PendingPod): PodRecord {
    const known = this.#pods.get(uid);
    if (known !== undefined) return known;
    const record: PodRecord = {
      group,
      open: undefined,
      backOff: new BackOff(this.#times),
      avoid: new Map(),
      raced: new Set(),
      stale: undefined,
    };
    this.#pods.set(uid, record);
    return record;
  }

  #close(record: PodRecord, open: Open, outcome: Outcome, now: number): void {
    record.open = undefined;
    const group = this.#group(record.group);
    group.open -= 1;
    if (outcome === 'left') {
      group.worked();
      this.#left.push({ ...open, leftAt: now });
    } else if (outcome === 'raced') {
      record.raced.add(open.node);
    } else {
      record.backOff.failed(now);
      record.avoid.set(open.node, now + this.#times.avoid);
      if (outcome === 'ignored') group.failed(now);
    }
  }
}

function outcomeOf(
  { node, at, version }: Open,
  pod: PendingPod | undefined,
  now: number,
  { raceWindow, expiry }: SteerTimes,
  raced: ReadonlySet<string>,
): Outcome | undefined {
  if (pod === undefined || pod.leaving) return 'left';
  // the watch may report the nomination later than the write returns
  const isNewer = isBefore({ version, arrival: 0 }, { version: pod.version, arrival: 0 });
  if (pod.nominated === node || !isNewer) return now - at > expiry ? 'expired' : undefined;
  if (pod.nominated !== '') return 'replaced';
  return now - at <= raceWindow && !raced.has(node) ? 'raced' : 'ignored';
}
