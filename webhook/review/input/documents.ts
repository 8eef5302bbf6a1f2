import { getHeapStatistics } from 'node:v8';
import { readYaml, type YamlDocument, YamlError } from '../../lib/yaml.ts';
import type { Fault, Path, SourceDocument } from '../model.ts';

/*
 * The limits of `review`. Without them, a large input would exhaust the memory and abort the process.
 * docs/guides/review.md lists them.
 */
const mebi = 2 ** 20;

/** The maximum characters of a YAML document, or of an object as JSON: over twice what an API server accepts. */
export const largestObject = 8 * mebi;

/** The maximum number of documents and objects in all inputs together. Each needs about 10 KiB, including its patch. */
export const mostObjects = 50_000;

/** The maximum bytes of all inputs. Processing needs up to six times as much, so a small heap lowers the limit. */
export const mostInput = (heap = getHeapStatistics().heap_size_limit): number =>
  Math.min(256 * mebi, Math.floor(heap / 8));

/** Formats a number of bytes or characters. */
export const inMebi = (count: number): string => `${Math.ceil((count / mebi) * 10) / 10} MiB`;

/**
 * Reads a stream of YAML documents and JSON values. A document that cannot be read has a fault.
 *
 * As in kubectl (apimachinery `pkg/util/yaml` YAMLReader), a document begins at every line that begins with `---`, even
 * in block scalars and quotes, and text after a line `...` is ignored. JSON values need no marker between them.
 *
 * @param file the name of the file, for messages
 */
export function* readStream(file: string, text: string): Generator<SourceDocument, undefined> {
  let start = 1;
  for (const part of text.split(/(?<=^|\n)(?=---)/)) {
    for (const own of jsonValues(part) ?? [part]) {
      if (own === '') continue;
      const document: SourceDocument = { file, text: own, start, json: isJson(own) };
      document.fault = faultIn(document);
      yield document;
      start += newlines(own);
    }
  }
}

/** Splits a text into JSON values that begin on lines of their own; undefined for other texts, such as YAML. */
function jsonValues(text: string): string[] | undefined {
  if (!/^\s*[{[]/.test(withoutMarker(text))) return undefined;
  // a new value begins where `{` or `[` begins the line after a `}` or `]`: within a value, a comma separates them
  const values = text.split(/(?=[{[])(?<=[}\]][ \t\r]*\n\s*)/);
  return values.length > 1 && isJson(values[0] ?? '') ? values : undefined;
}

function isJson(part: string): boolean {
  const text = withoutMarker(part);
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A document without its `---`. Spaces replace the marker, so that offsets do not change. */
export const withoutMarker = (text: string): string =>
  text.replace(/^---[ \t]*(?=[\s#]|$)/, (marker) => ' '.repeat(marker.length));

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function faultIn(document: SourceDocument): Fault | undefined {
  const { file, start, text, json } = document;
  if (!json && text.length > largestObject) {
    const line = firstLine(withoutMarker(text), start);
    const message = `a YAML document has ${inMebi(text.length)}; review accepts ${inMebi(largestObject)}: split it, or print a larger List with kubectl's --output json`;
    return { code: 'CNI_GATE_INPUT_TOO_LARGE', message, file, line };
  }
  if (!json && (text.match(/^kind:/gm)?.length ?? 0) > 1) {
    const line = start + newlines(text.slice(0, text.lastIndexOf('\nkind:') + 1));
    const message = 'the key "kind" occurs twice: is a "---" missing before this manifest?';
    return { code: 'CNI_GATE_INPUT_SYNTAX', message, file, line };
  }
  try {
    parsed(document);
    return undefined;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    // `parse` may have added a newline, and an error at the end is then one line too far
    const line = Math.min(start + error.line - 1, start + newlines(text));
    const { message, column } = error;
    if (error.tooLarge) return { code: 'CNI_GATE_INPUT_TOO_LARGE', message, file, line, column };
    const isTemplate = /^[^#\n]*(?:\{\{|\{%)/m.test(text);
    const advice = isTemplate ? '; render a template first, for example with helm template' : '';
    const what = `neither YAML nor JSON: ${message}${advice}`;
    return { code: 'CNI_GATE_INPUT_SYNTAX', message: what, file, line, column };
  }
}

let last: { document: SourceDocument; parsed: YamlDocument } | undefined;

/**
 * The value of a document, which must not be changed. Only the value of the last document is kept, because values use
 * several times the memory of their text.
 *
 * @throws YamlError
 */
export function parsed(document: SourceDocument): YamlDocument {
  if (last?.document !== document) {
    last = undefined;
    last = { document, parsed: parse(document) };
  }
  return last.parsed;
}

function parse({ text: own, start, json }: SourceDocument): YamlDocument {
  const text = withoutMarker(own);
  // JSON has no positions, so every path has the first line of the value
  if (json) return { value: JSON.parse(text), lineOf: () => firstLine(text, start) };
  // as kubectl does, adds a newline to the last line if it has none
  const [document] = readYaml(text.endsWith('\n') ? text : `${text}\n`);
  if (document === undefined) return { value: null, lineOf: () => start };
  const { value, lineOf } = document;
  return { value, lineOf: (path) => start + lineOf(path) - 1 };
}

const firstLine = (text: string, start: number): number => start + newlines(text.slice(0, text.search(/\S/)));

/** The line of the value at a path in a document, or of the nearest parent that exists. */
export const lineOf = (document: SourceDocument, path: Path): number => parsed(document).lineOf(path);
