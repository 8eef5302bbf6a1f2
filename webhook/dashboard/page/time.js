const units = /** @type {const} */ ([
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
]);

/** The time that ages are counted to, in seconds since the epoch; undefined: now. @type {number | undefined} */
let stopped;

/**
 * Counts ages to this time from now on, as in a file, which shows the cluster as it was.
 *
 * @param {number} seconds since the epoch
 */
export function stopClock(seconds) {
  stopped = seconds;
}

/**
 * How long ago a time was, in its largest unit.
 *
 * @param {number | null} seconds since the epoch
 * @param {number} [now] seconds since the epoch
 */
export function age(seconds, now = stopped ?? Date.now() / 1000) {
  if (seconds === null) return '';
  const passed = Math.max(0, Math.floor(now - seconds));
  const [size, unit] = units.find(([one]) => passed >= one) ?? [1, 's'];
  return `${Math.floor(passed / size)} ${unit}`;
}

/** @param {string | null} time RFC 3339 */
export const secondsOf = (time) => (time === null ? null : Date.parse(time) / 1000);

/** @param {number} seconds since the epoch */
export const clock = (seconds) =>
  new Date(seconds * 1000).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });

/** @param {number | null} seconds since the epoch */
export const moment = (seconds) =>
  seconds === null
    ? 'not known'
    : new Date(seconds * 1000).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
