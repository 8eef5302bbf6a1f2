import { isBefore } from '../readiness/versions.ts';
import { Group } from './group.ts';
import type { Expected } from './node-usage.ts';
import type { PendingPod } from './pending-pod.ts';
import { defaultTimes, pauseAfter, type SteerTimes } from './times.ts';

/**
 * What came of a nomination: `left`: the pod does not wait any more, mostly because it was bound; `ignored`: the
 * scheduler cleared it, and the pod still waits; `raced`: cleared so soon that it may not have been seen;
 * `replaced`: somebody wrote another; `expired`: nobody did anything about it.
 */
export type Outcome = 'left' | 'ignored' | 'raced' | 'replaced' | 'expired';

export interface Ended {
  /** `namespace/name` */
  pod: string;
  node: string;
  outcome: Outcome;
}

interface Open extends Expected {
  pod: string;
  at: number;
  /** How its node looked then. */
  fingerprint: string;
  /** The pod's version with the nomination in it. */
  version: string;
}

interface Made {
  pod: PendingPod;
  node: string;
  fingerprint: string;
}

interface PodRecord {
  group: string;
  open: Open | undefined;
  /** Nodes that are avoided, by name: until when at least, and for as long as they look so. */
  avoid: Map<string, { until: number; fingerprint: string }>;
  raced: Set<string>;
  ignored: number;
  notBefore: number;
  /** A version of the pod that is known to be an old one. */
  stale: string | undefined;
}

/** How long a pod that left is reckoned with on its node, in milliseconds: the next look at the node comes sooner. */
const remembered = 30_000;

/**
 * What was nominated and what came of it. Memory of the leader: who comes after begins anew, and repeats at most one
 * nomination of each pod. Pure: times are handed in, in milliseconds since the epoch.
 */
export class History {
  readonly #times: SteerTimes;
  readonly #pods = new Map<string, PodRecord>();
  readonly #groups = new Map<string, Group>();
  /** How many nominations are open, by group. */
  readonly #openOf = new Map<string, number>();
  #left: Open[] = [];

  constructor(times: SteerTimes = defaultTimes) {
    this.#times = times;
  }

  /**
   * A nomination was written.
   *
   * @param made its pod, its node, and how that looked: see {@link lookOf}
   * @param version the pod's with it
   */
  made({ pod, node, fingerprint }: Made, version: string, now: number): void {
    const { uid, group, requests } = pod;
    const name = `${pod.namespace}/${pod.name}`;
    const expected = { uid, node, group, requests, leftAt: undefined };
    const record = this.#record(pod);
    if (record.open === undefined) this.#count(record.group, 1);
    record.open = { ...expected, pod: name, at: now, fingerprint, version };
  }

  /** A nomination was not taken, because the pod is another by now than it was seen: nothing is done until it is seen. */
  stale(pod: PendingPod): void {
    this.#record(pod).stale = pod.version;
  }

  /** A nomination could not be written, for whatever reason: the pod pauses. */
  failed(pod: PendingPod, now: number): void {
    const record = this.#record(pod);
    record.ignored += 1;
    record.notBefore = now + pauseAfter(record.ignored, this.#times);
  }

  /** Takes note of the pods that wait now, and tells which nominations came to their end. */
  observe(pending: ReadonlyMap<string, PendingPod>, now: number): Ended[] {
    this.#left = this.#left.filter(({ leftAt }) => leftAt !== undefined && now - leftAt < remembered);
    const ended: Ended[] = [];
    for (const [uid, record] of this.#pods) {
      const pod = pending.get(uid);
      const outcome = record.open && outcomeOf(record.open, pod, now, this.#times, record.raced);
      if (record.open && outcome) {
        ended.push({ pod: record.open.pod, node: record.open.node, outcome });
        this.#close(record, record.open, outcome, now);
      }
      if (pod === undefined) this.#pods.delete(uid);
    }
    const groups = new Set(Array.from(pending.values(), ({ group }) => group));
    for (const [name, group] of this.#groups) {
      if (!groups.has(name) && group.notBefore <= now) this.#groups.delete(name);
    }
    return ended;
  }

  /** Whether a nomination of the pod is open, or the pod is not known as it is now. */
  isBusy({ uid, version }: PendingPod): boolean {
    const record = this.#pods.get(uid);
    return record?.open !== undefined || record?.stale === version;
  }

  /** When the pod may be nominated again; in the past where it may be now. */
  notBefore({ uid, group }: PendingPod): number {
    const own = this.#pods.get(uid)?.notBefore ?? Number.NEGATIVE_INFINITY;
    return Math.max(own, this.#groups.get(group)?.notBefore ?? Number.NEGATIVE_INFINITY);
  }

  /**
   * Whether the pod is to be kept off a node where a nomination of it came to nothing: for a while in any case, and
   * then for as long as the node looks as it did.
   *
   * @param fingerprint how the node looks now; undefined where that is not known, and has to be asked first
   */
  avoids({ uid }: PendingPod, node: string, fingerprint: () => string | undefined, now: number): boolean {
    const avoided = this.#pods.get(uid)?.avoid.get(node);
    return avoided !== undefined && (avoided.until > now || avoided.fingerprint === fingerprint());
  }

  /** How many more of the pod's group may be nominated now. */
  width({ group, unverifiable }: PendingPod): number {
    const width = (this.#groups.get(group) ?? new Group()).width(unverifiable);
    if (width === Number.POSITIVE_INFINITY) return width;
    return width - (this.#openOf.get(group) ?? 0);
  }

  /** Pods that were nominated for nodes: those that still wait, and those that left a moment ago. */
  expected(): Map<string, Expected[]> {
    const open = [...this.#pods.values()].flatMap((record) => record.open ?? []);
    return Map.groupBy([...open, ...this.#left], ({ node }) => node);
  }

  #count(group: string, more: 1 | -1): void {
    const count = (this.#openOf.get(group) ?? 0) + more;
    if (count === 0) this.#openOf.delete(group);
    else this.#openOf.set(group, count);
  }

  #record({ uid, group }: PendingPod): PodRecord {
    const known = this.#pods.get(uid);
    if (known !== undefined) return known;
    const record: PodRecord = {
      group,
      open: undefined,
      avoid: new Map(),
      raced: new Set(),
      ignored: 0,
      notBefore: Number.NEGATIVE_INFINITY,
      stale: undefined,
    };
    this.#pods.set(uid, record);
    return record;
  }

  #close(record: PodRecord, open: Open, outcome: Outcome, now: number): void {
    record.open = undefined;
    this.#count(record.group, -1);
    const group = this.#groups.get(record.group) ?? new Group();
    this.#groups.set(record.group, group);
    if (outcome === 'left') {
      group.worked();
      this.#left.push({ ...open, leftAt: now });
    } else if (outcome === 'raced') {
      record.raced.add(open.node);
    } else {
      record.ignored += 1;
      record.notBefore = now + pauseAfter(record.ignored, this.#times);
      record.avoid.set(open.node, { until: now + this.#times.avoid, fingerprint: open.fingerprint });
      if (outcome === 'ignored') group.failed(now, this.#times);
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
  if (pod.nominated === node) return now - at > expiry ? 'expired' : undefined;
  // what is seen may be older than the nomination
  const isNewer = isBefore({ version, arrival: 0 }, { version: pod.version, arrival: 0 });
  if (!isNewer) return now - at > expiry ? 'expired' : undefined;
  if (pod.nominated !== '') return 'replaced';
  return now - at <= raceWindow && !raced.has(node) ? 'raced' : 'ignored';
}
