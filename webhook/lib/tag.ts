import type { ErrorCode } from './errors.ts';

/**
 * A tag is what a program reads again of a text for people: an error code and fixed fields in parentheses, at the end of
 * the text, such as `(CNI_GATE_NODE_NOT_READY node=n1 profile=mesh state=broken)`. The sentences before it may change.
 */
const longestValue = 253;
const value = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;

/** Whether a text can be the value of a field: a name of Kubernetes or one word, at most 253 characters. */
export const isTagValue = (text: string): boolean => text.length <= longestValue && value.test(text);

/** Makes a tag. @param fields in the order of the text; each value fits {@link isTagValue} */
export function formatTag(code: ErrorCode, fields: Readonly<Record<string, string>>): string {
  return `(${[code, ...Object.entries(fields).map(([key, text]) => `${key}=${text}`)].join(' ')})`;
}

/**
 * Reads the tag at the end of a text.
 *
 * @param keys the fields of this code, in their order
 * @returns the fields, and the text before the tag; undefined where the text does not end with such a tag
 */
export function parseTag<Key extends string>(
  text: string,
  code: ErrorCode,
  keys: readonly Key[],
): { fields: Record<Key, string>; before: string } | undefined {
  const start = text.lastIndexOf(`(${code} `);
  if (start === -1 || !text.endsWith(')')) return undefined;
  const parts = text.slice(start + code.length + 2, -1).split(' ');
  const fields = parts.map((part, index) => [keys[index], part.slice(`${keys[index]}=`.length)] as const);
  const isTag =
    parts.length === keys.length &&
    fields.every(([key, found], index) => parts[index] === `${key}=${found}` && isTagValue(found));
  return isTag
    ? { fields: Object.fromEntries(fields) as Record<Key, string>, before: text.slice(0, start).trimEnd() }
    : undefined;
}
