import type { PodEvidence } from '../evidence/facts.ts';
import { repairLimits } from '../lib/limits.ts';
import type { Legacy } from './legacy.ts';
import { minute } from './window.ts';

/** What the leader before may have done. Times are those of a monotonic clock, ascending. */
export interface Before {
  /** When it may have recreated pods, in the last minute. */
  recent: number[];
  /** The same by UID of their controllers, and when it may have recreated pods in vain. */
  owners: Map<string, { recent: number[]; fruitless: number[] }>;
}

/** When the pods of one controller were created. */
interface Created {
  recent: number[];
  failed: number[];
  waiting: number[];
  /** The newest one that passed. */
  passed: number;
}

/** By how much the clock of the API server, which writes whole seconds, may be behind that of a replica. */
const skew = 2000;

/**
 * The most that the leader before may have done, besides what it left word of. A recreated pod is a new pod, so the times at which pods were created
 * show it:
 * - each pod of the last minute may be a recreated one;
 * - so may a controller's pods that are newer than its first failed one. They were recreated in vain if they have not
 *   passed. If one has, only those that failed and are newer still.
 *
 * @param wall the time of day, milliseconds since the epoch
 * @param now the same moment by the monotonic clock
 * @param left what the leader before left; times are those of the monotonic clock
 */
export function recreationsBefore(
  pods: Iterable<PodEvidence>,
  wall: number,
  now: number,
  left?: Pick<Legacy, 'owners' | 'isComplete'> & { writtenAt: number },
): Before {
  const isKnown = (uid: string, time: number): boolean =>
    left !== undefined && time < left.writtenAt - skew && (left.isComplete || left.owners.has(uid));
  const created = new Map<string, Created>();
  for (const { uid, owner: key, createdAt, leaving, verdict } of pods) {
    if (key === uid) continue;
    const known = created.get(key);
    const owner = known ?? { recent: [], failed: [], waiting: [], passed: Number.NEGATIVE_INFINITY };
    if (known === undefined) created.set(key, owner);
    const at = now - Math.max(0, wall - createdAt);
    // the pod that replaces one that is leaving may not be there yet
    const recreatedAt = leaving && verdict === 'failed' ? now : at;
    if (now - recreatedAt < minute) owner.recent.push(recreatedAt);
    if (verdict === 'passed') owner.passed = Math.max(owner.passed, at);
    else if (verdict === 'failed' || verdict === 'waiting') owner[verdict].push(at);
  }
  const owners: Before['owners'] = new Map();
  for (const [uid, owner] of created) {
    const isNews = (time: number): boolean => !isKnown(uid, time);
    const recent = owner.recent.sort(ascending).filter(isNews);
    const { within } = repairLimits.fruitless;
    const fruitless = fruitlessOf(owner).filter((time) => now - time < within && isNews(time));
    if (recent.length + fruitless.length > 0) owners.set(uid, { recent, fruitless });
  }
  return { recent: [...owners.values()].flatMap(({ recent }) => recent).sort(ascending), owners };
}

/** A controller makes its pods within seconds of each other; repair makes pauses of at least this time between two. */
const batch = repairLimits.pause;

function fruitlessOf({ failed, waiting, passed }: Created): number[] {
  const first = failed.reduce((earliest, time) => Math.min(earliest, time), Number.POSITIVE_INFINITY);
  const isLater = (time: number): boolean => time - first >= batch;
  const fruitless = isLater(passed)
    ? failed.filter((time) => time > passed)
    : [...failed, ...waiting].filter(isLater);
  return fruitless.sort(ascending);
}

const ascending = (one: number, other: number): number => one - other;
