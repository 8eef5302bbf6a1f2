import { isBefore } from './boots.ts';

/** The time of an event on a node: by the node's clock, and by the writes to the API server before and after it. */
export interface Moment {
  /** By the node's clock, in milliseconds since the epoch. */
  at: number;
  /** `metadata.resourceVersion` of the last known object that was written before the event. */
  after?: string | undefined;
  /** `metadata.resourceVersion` of the first known object that shows the event. */
  shownBy?: string | undefined;
}

/** Whether `moment` is later than `than`, by resourceVersion if possible: node clocks can be set back. */
export function isLater(moment: Moment, than: Moment): boolean {
  if (isBefore(than.shownBy ?? '', moment.after ?? '')) return true;
  if (isBefore(moment.shownBy ?? '', than.after ?? '')) return false;
  return moment.at > than.at;
}
