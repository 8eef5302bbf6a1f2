/** Kubernetes' MicroTime: six digits of a second. */
export const microTime = (time: Date): string => time.toISOString().replace('Z', '000Z');
