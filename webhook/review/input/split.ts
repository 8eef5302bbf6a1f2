import { largestObject } from './limits.ts';

/** A part of a stream that is read as one document. All parts together are the stream. */
export interface Part {
  text: string;
  /** The number of its first line. */
  start: number;
  /** Whether it continues the previous one, so that no marker belongs between them. */
  continues: boolean;
  /** Whether it is the text around the items of a List, without an object. */
  between: boolean;
}

/**
 * Splits a YAML stream at its document markers, as kubectl does: at every line that begins with `---`, in block scalars
 * and quotes too (apimachinery `pkg/util/yaml` YAMLReader). `...` also ends a document; the text after it, which
 * kubectl ignores, is read as another. A document with several JSON values is split between them, and a List that is too
 * large for one object between its items.
 */
export function* partsOf(text: string): Generator<Part, undefined> {
  let start = 1;
  for (const document of text.split(/(?<=^|\n)(?=---|\.\.\.(?:[ \t\r\n]|$))/)) {
    const json = jsonValues(document);
    const list = json === undefined && document.length > largestObject ? listParts(document) : undefined;
    for (const [index, own] of (json ?? list ?? [document]).entries()) {
      if (own === '') continue;
      const between = list !== undefined && !own.startsWith('- ');
      yield { text: own, start, continues: list !== undefined && index > 0, between };
      start += newlines(own);
    }
  }
}

/**
 * JSON values, each of which begins on a line of its own; undefined for other texts, such as flow YAML. Inside of a value,
 * a comma is between such brackets.
 */
function jsonValues(text: string): string[] | undefined {
  if (!/^\s*[{[]/.test(withoutMarker(text))) return undefined;
  const texts = text.split(/(?=[{[])(?<=[}\]][ \t\r]*\n\s*)/);
  return texts.length > 1 && isJson(texts[0] ?? '') ? texts : undefined;
}

/** Whether a part is JSON. */
export function isJson(part: string): boolean {
  const text = withoutMarker(part);
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The items of a List in the form of `kubectl get --output yaml`, and the texts before and after them. If a line in
 * quotes looks like the next item, the split leaves quotes open, so a wrong split is an error and never another value.
 */
function listParts(text: string): string[] | undefined {
  const items = /^items:[ \t]*\r?\n(?=- )/m.exec(text);
  if (items === null || !/^kind: List\s*$/m.test(text)) return undefined;
  const begin = items.index + items[0].length;
  const behind = text.slice(begin).search(/^[^-\s#]/m);
  const end = behind < 0 ? text.length : begin + behind;
  return [text.slice(0, begin), ...text.slice(begin, end).split(/^(?=- )/m), text.slice(end)];
}

/** The part without its marker; offsets do not change. */
export const withoutMarker = (part: string): string =>
  part.replace(/^(?:---|\.\.\.)[ \t]*(?=[\s#]|$)/, (marker) => ' '.repeat(marker.length));

/** The number of line ends in a text. */
export function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
