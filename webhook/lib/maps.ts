/** The value of a key of an untrusted map; undefined if null, or for inherited keys such as `constructor`. */
export function getOwn<T>(map: Record<string, T> | null | undefined, key: string): T | undefined {
  return map && Object.hasOwn(map, key) ? (map[key] ?? undefined) : undefined;
}

/** Returns the value of a key. If there is none, makes it and adds it to the map. */
export function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Removes the keys that were added first, until no more than the maximum are left. */
export function evictOldest<K>(map: Map<K, unknown> | Set<K>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return;
    map.delete(key);
  }
}
