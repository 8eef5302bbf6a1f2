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

/** The parts of a text that begins with several JSON values; undefined for flow YAML, which looks similar. */
function jsonValues(text: string): string[] | undefined {
  const own = withoutMarker(text);
  if (!/^\s*[{[]/.test(own)) return undefined;
  const starts = valueStarts(own);
  if (starts.length < 2) return undefined;
  const texts = starts.map((from, index) => text.slice(index === 0 ? 0 : from, starts[index + 1]));
  try {
    JSON.parse(withoutMarker(texts[0] ?? ''));
    return texts;
  } catch {
    return undefined;
  }
}

/** Where JSON values behind one another begin, by their brackets. */
function valueStarts(text: string): number[] {
  const starts: number[] = [];
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]/gs)) {
    const opens = token === '{' || token === '[';
    if (opens && depth === 0) starts.push(index);
    if (opens) depth += 1;
    if (token === '}' || token === ']') depth -= 1;
  }
  return starts;
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

/** Whether there are only markers, comments and directives. */
export function isBlank(part: string): boolean {
  return !/^(?:[^\S\n]*[^\s#%]|[^\S\n]+%)/m.test(withoutMarker(part));
}

/** The text after a marker in its line, where only a comment is allowed. */
export function behindMarker(part: string): string | undefined {
  const rest = /^---(.*)/.exec(part)?.[1]?.trim() ?? '';
  return rest === '' || rest.startsWith('#') ? undefined : rest;
}

/** The number of line ends in a text. */
export function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/**
 * The offset of the first action of an unrendered template of Go, Helm or Jinja, outside of comments; undefined for any
 * other text.
 *
 * @param text a text that is not YAML
 */
export function unrendered(text: string): number | undefined {
  const line = /^[^#\n]*?(?=\{\{|\{%)/m.exec(text);
  return line === null ? undefined : line.index + line[0].length;
}
