/** The function, asked once for each key: what it said first stays true. */
export function memoize<K, T>(ask: (key: K) => T): (key: K) => T {
  const known = new Map<K, { value: T }>();
  return (key) => {
    const one = known.get(key) ?? { value: ask(key) };
    known.set(key, one);
    return one.value;
  };
}
