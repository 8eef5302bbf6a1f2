import { foreign } from '../../lib/names.ts';

/**
 * The value of an annotation that has one value and should have another, too. Only comma-separated lists of Multus
 * networks can have both: the second one's items are added where the first one lacks them. Otherwise undefined.
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
