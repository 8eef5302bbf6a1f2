import { parseDuration } from '../../validator/shared/duration.ts';

/** The API server's own limits on `timeoutSeconds`: 1 to 30, default 10. */
const defaultTimeout = 10_000;
const longestTimeout = 30_000;

/** What the answer needs to get back to the API server, in milliseconds. */
const reserve = 250;

/**
 * Milliseconds until the answer has to be on its way: shortly before the API server stops waiting.
 *
 * @param timeout the `timeout` parameter that the API server puts on the URL, such as `10s`
 */
export function timeToAnswer(timeout: string | undefined): number {
  const asked = timeout === undefined ? undefined : parseDuration(timeout);
  const given = Math.min(asked ?? defaultTimeout, longestTimeout);
  return Math.max(given - reserve, given / 2);
}
