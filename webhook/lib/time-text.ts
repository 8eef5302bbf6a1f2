/**
 * RFC 3339 in whole seconds, as Kubernetes writes times.
 *
 * @param time milliseconds since the epoch
 */
export const timeText = (time: number): string => new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z');

/** The format of Kubernetes' MicroTime, with six decimals of a second. */
export const microTime = (time: Date): string => time.toISOString().replace('Z', '000Z');
