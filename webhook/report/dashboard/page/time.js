const units = /** @type {const} */ ([
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
]);

/**
 * How long ago a time was, in its largest unit; empty if the time is not known.
 *
 * @param {string | null} time RFC 3339
 * @param {number} now milliseconds since the epoch
 */
export function age(time, now) {
  if (time === null) return '';
  const seconds = Math.max(0, Math.floor((now - Date.parse(time)) / 1000));
  const [size, unit] = units.find(([one]) => seconds >= one) ?? [1, 's'];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** @param {string} time RFC 3339 */
export const moment = (time) =>
  new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
