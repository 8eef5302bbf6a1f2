import { foreign } from '../../lib/names.ts';

/**
 * Joins two values of an annotation; undefined if they cannot be joined. Different values can be joined only if they
 * are comma-separated lists of Multus networks: the items that only the second list has are appended to the first.
 */
export function joinedAnnotation(key: string, first: string, second: string): string | undefined {
  if (first === second) return first;
  // Multus reads a text with any of these characters as JSON
  if (key !== foreign.networks || /[[{"]/.test(first + second)) return undefined;
  const items = itemsOf(first);
  const missing = itemsOf(second).filter((item) => !items.includes(item));
  return missing.length === 0 ? first : [...items, ...missing].join(', ');
}

const itemsOf = (list: string): string[] => list.split(',').flatMap((item) => item.trim() || []);
