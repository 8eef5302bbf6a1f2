/** Reads an untrusted map by its own keys only, so `constructor` is absent. Null means absent, as in manifests. */
export function getOwn<T>(map: Record<string, T> | null | undefined, key: string): T | undefined {
  return map && Object.hasOwn(map, key) ? (map[key] ?? undefined) : undefined;
}

/** Returns the value of a key. A missing value is first made and put into the map. */
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
