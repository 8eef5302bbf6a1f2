/**
 * When something was seen: an object's resourceVersion, and the order in which it came here. Versions of different
 * kinds can be compared where both are numbers, as they are in etcd: Kubernetes says so of all its resources
 * (KEP-5504). Where one is none, the order of arrival has to do.
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
