import type { PodEvidence } from '../../nodes/evidence/facts.ts';

/** Milliseconds after which a pod on a node without a verdict is reported: a large image takes that long. */
const long = 60_000;

/** Whether a pod has been on its node for long without a verdict. @param now milliseconds since the epoch */
export const hasWaitedLong = (
  { verdict, leaving, ended, at, createdAt }: PodEvidence,
  now: number,
): boolean => verdict === 'waiting' && !leaving && !ended && now - (at ?? createdAt) >= long;
