import { isBefore } from './boots.ts';

/** When something happened on a node: by the node's clock, and between two writes of objects to the API server. */
export interface Moment {
  /** By the node's clock, in milliseconds since the epoch. */
  at: number;
  /** `metadata.resourceVersion` of the last known object that was written before it. */
  after?: string | undefined;
  /** `metadata.resourceVersion` of the first known object that shows it. */
  shownBy?: string | undefined;
}

/** Whether a moment is later. What was observed decides where it can: the clock of a node can be set back. */
export function isLater(moment: Moment, than: Moment): boolean {
  if (isBefore(than.shownBy ?? '', moment.after ?? '')) return true;
  if (isBefore(moment.shownBy ?? '', than.after ?? '')) return false;
  return moment.at > than.at;
}
