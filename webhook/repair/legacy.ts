import { repairLimits } from '../lib/limits.ts';

/** What a leader leaves to the next one of one controller. Times are milliseconds, relative to when it was written. */
export interface OwnerLegacy {
  /** When pods were recreated in the last minute. */
  recent: number[];
  /** When pods were recreated since the last success. */
  fruitless: number[];
  /** Failures since the last success, and the end of the pause. */
  failures: number;
  notBefore: number;
}

/** Of a breaker that stops repair. */
export type BreakerLegacy = Pick<OwnerLegacy, 'failures' | 'notBefore'>;

/** What a leader leaves to the next one. */
export interface Legacy {
  /** When it was written, milliseconds since the epoch. */
  writtenAt: number;
  /** When pods of any controller were recreated in the last minute. */
  recent: number[];
  /** By UID, the ones of the latest recreations first. */
  owners: Map<string, OwnerLegacy>;
  /** Whether these are all owners. */
  isComplete: boolean;
  /** Of those that are open, by namespace; an empty name for all namespaces. */
  breakers: Map<string, BreakerLegacy>;
}

const { owners: mostOwners, times: mostTimes, characters } = repairLimits.legacy;

/** The text for the Lease. Its size is bounded: the owners at the end of the map are left out. */
export function writeLegacy({ writtenAt, recent, owners, breakers }: Legacy): string {
  const list = Array.from(owners, ([uid, one]) => [
    uid,
    one.failures,
    whole(one.notBefore),
    one.recent.slice(-mostTimes).map(whole),
    one.fruitless.slice(-repairLimits.fruitless.count).map(whole),
  ]);
  const stopped = Array.from(breakers, ([name, one]) => [name, one.failures, whole(one.notBefore)]);
  for (let most = Math.min(list.length, mostOwners); ; most = Math.floor(most / 2)) {
    const text = JSON.stringify({
      writtenAt,
      recent: recent.slice(-mostTimes).map(whole),
      owners: list.slice(0, most),
      isComplete: most === list.length,
      breakers: stopped.slice(0, mostOwners),
    });
    if (text.length <= characters || most === 0) return text;
  }
}

/** Reads such a text. Undefined for any other: who may write the Lease may write anything. */
export function readLegacy(text: string | undefined): Legacy | undefined {
  if (text === undefined || text.length > 2 * characters) return undefined;
  try {
    const { writtenAt, recent, owners, isComplete, breakers } = JSON.parse(text);
    if (typeof writtenAt !== 'number') return undefined;
    return {
      writtenAt,
      recent: past(recent),
      owners: new Map(
        listOf(owners).map(([uid, failures, notBefore, ofOwner, fruitless]) => [
          String(uid),
          {
            recent: past(ofOwner),
            fruitless: past(fruitless).slice(-repairLimits.fruitless.count),
            ...paused(failures, notBefore),
          },
        ]),
      ),
      isComplete: isComplete === true,
      breakers: new Map(
        listOf(breakers).map(([name, failures, notBefore]) => [String(name), paused(failures, notBefore)]),
      ),
    };
  } catch {
    return undefined;
  }
}

const whole = (time: number): number => Math.max(Math.round(time), -repairLimits.fruitless.within);

const listOf = (value: unknown): unknown[][] =>
  Array.isArray(value) ? value.filter((one) => Array.isArray(one)).slice(0, mostOwners) : [];

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** Times that are not in the future, ascending. */
const past = (value: unknown): number[] =>
  (Array.isArray(value) ? value : [])
    .filter(isNumber)
    .slice(-mostTimes)
    .map((time) => Math.min(time, 0))
    .sort((one, other) => one - other);

/** No pause is longer than the longest. */
const paused = (failures: unknown, notBefore: unknown): BreakerLegacy => ({
  failures: isNumber(failures) ? Math.min(Math.max(0, Math.floor(failures)), 100) : 0,
  notBefore: isNumber(notBefore) ? Math.min(notBefore, repairLimits.longestPause) : 0,
});

/** The same with times of a monotonic clock. @param wall the time of day when that clock shows `now` */
export function inTimeOf(left: Legacy | undefined, wall: number, now: number): Legacy | undefined {
  if (left === undefined) return undefined;
  // a time of day that was set back must not extend a pause
  const written = now - Math.max(0, wall - left.writtenAt);
  const moved = (time: number): number => written + time;
  const resumed = <T extends BreakerLegacy>(one: T): T => ({ ...one, notBefore: moved(one.notBefore) });
  return {
    ...left,
    writtenAt: written,
    recent: left.recent.map(moved),
    owners: new Map(
      Array.from(left.owners, ([uid, one]) => [
        uid,
        { ...resumed(one), recent: one.recent.map(moved), fruitless: one.fruitless.map(moved) },
      ]),
    ),
    breakers: new Map(Array.from(left.breakers, ([name, one]) => [name, resumed(one)])),
  };
}
