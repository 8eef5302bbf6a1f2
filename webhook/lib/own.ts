/** A value of an untrusted map. It reads own keys only, so that a key such as `constructor` finds nothing. */
export function own<T>(map: Record<string, T> | null | undefined, key: string): T | undefined {
  return map !== null && map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
