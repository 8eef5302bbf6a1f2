/**
 * The order of observations: an object's resourceVersion, and the order of arrival. Versions of different kinds can be
 * compared if both are numbers, as in etcd (KEP-5504, for all resources). Otherwise the order of arrival counts.
 */
export interface Moment {
  version: string;
  arrival: number;
}

/** Whether the first was written before the second. */
export function isBefore(one: Moment, other: Moment): boolean {
  const number = /^\d+$/;
  return number.test(one.version) && number.test(other.version)
    ? BigInt(one.version) < BigInt(other.version)
    : one.arrival < other.arrival;
}
