import { isMap, isScalar } from 'yaml';
import { offsetNear, YamlError } from '../../lib/yaml.ts';
import { type Fault, faultAt, type Path, type SourceDocument } from '../model.ts';
import { inMebi, largestObject } from './limits.ts';
import { cutYamlList, itemStarts, itemsOf, valueStarts } from './list.ts';
import { parseManifest } from './locate.ts';
import {
  behindMarker,
  isBlank,
  Lines,
  newlines,
  type Piece,
  splitStream,
  unrendered,
  withoutMarker,
} from './split.ts';

/** A document that was read, with the positions of its parts. */
export interface ReadDocument extends SourceDocument {
  value: unknown;
  /** The line of the value at a path of the document, or of the nearest parent. */
  lineOf: (path: Path) => number;
  /** The second of two equal keys at the top level: two manifests without `---` between them. */
  repeated?: RepeatedKey | undefined;
}

/** A key that an object has twice, and where the second is. */
export interface RepeatedKey {
  key: string;
  line: number;
  column: number;
}

/** A part of a stream that is read as one document. */
interface Part extends Piece {
  /** Whether it continues the previous one, so that no marker belongs between them. */
  continues: boolean;
  /** Its List, without the items. */
  itemOf?: unknown;
  /** Whether it is the text around the items of a List, without an object. */
  between?: boolean;
}

/**
 * Reads a stream of YAML documents, or of JSON values with `---`, newlines or nothing between them. Reports what cannot
 * be read, and reads the rest. Blank and unreadable parts have no value; their text is kept for its comments.
 *
 * For an unrendered template, only the first action is reported.
 *
 * @param file only for messages
 */
export function* readStream(
  file: string,
  text: string,
): Generator<ReadDocument | SourceDocument | Fault, undefined> {
  let isTemplate = false;
  for (const part of partsOf(text)) {
    const blank = blankOf(file, part);
    const read = readPart(file, part, blank);
    if (!('code' in read)) {
      yield read;
      continue;
    }
    if (!isTemplate) yield read;
    isTemplate ||= read.code === 'CNI_GATE_INPUT_TEMPLATE';
    yield blank;
  }
}

function* partsOf(text: string): Generator<Part, undefined> {
  for (const piece of splitStream(text)) {
    const own = withoutMarker(piece.text);
    if (looksLikeJson(own)) yield* valuesOf(piece, own);
    else if (own.length > largestObject) yield* listParts(piece, own);
    else yield { ...piece, continues: false };
  }
}

const looksLikeJson = (text: string): boolean => /^\s*[{[]/.test(text);

/** The JSON values in one part of a stream. Flow YAML, which looks similar, stays one part. */
function* valuesOf(piece: Piece, text: string): Generator<Part, undefined> {
  const starts = parseJson(text) === undefined ? valueStarts(text) : [];
  const texts = starts.map((from, index) =>
    piece.text.slice(index === 0 ? 0 : from, starts[index + 1] ?? piece.text.length),
  );
  if (starts.length < 2 || parseJson(withoutMarker(texts[0] ?? '')) === undefined) {
    return yield { ...piece, continues: false };
  }
  let { start } = piece;
  for (const own of texts) {
    yield { text: own, start, continues: false };
    start += newlines(own);
  }
}

/** A document that is too large for one object can be a List, of which each item is read on its own. */
function* listParts(piece: Piece, text: string): Generator<Part, undefined> {
  const cut = cutYamlList(text);
  if (cut === undefined) return yield { ...piece, continues: false };
  let at = 0;
  let { start } = piece;
  for (const { text: part, item } of cut.pieces) {
    // as in the input, with its marker
    const own = piece.text.slice(at, at + part.length);
    yield { text: own, start, continues: at > 0, ...(item ? { itemOf: cut.list } : { between: true }) };
    at += part.length;
    start += newlines(part);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const blankOf = (file: string, { text, start, continues }: Part): SourceDocument => ({
  file,
  start,
  text,
  continues,
  json: false,
});

function readPart(file: string, part: Part, blank: SourceDocument): ReadDocument | SourceDocument | Fault {
  const behind = behindMarker(part.text);
  if (behind !== undefined) {
    const message = `expected the end of the line or a comment after "---", as kubectl does; found ${behind.slice(0, 40)}`;
    return faultAt({ file, line: part.start }, 'CNI_GATE_INPUT_SYNTAX', message);
  }
  if (part.between || isBlank(part.text)) return blank;
  const text = withoutMarker(part.text);
  const value = looksLikeJson(text) ? parseJson(text) : undefined;
  return value === undefined ? readYaml(part, text, blank) : readJson(text, value, blank);
}

function readJson(text: string, value: unknown, blank: SourceDocument): ReadDocument {
  const lines = new Lines(text, blank.start);
  const line = lines.at(text.search(/\S/)).line;
  let starts: number[] | undefined;
  const lineOf = (path: Path): number => {
    const index = path.find((step) => typeof step === 'number');
    if (index === undefined) return line;
    starts ??= itemStarts(text);
    return lines.at(starts[index] ?? 0).line;
  };
  return { ...blank, json: true, value, lineOf };
}

function readYaml({ itemOf }: Part, text: string, blank: SourceDocument): ReadDocument | Fault {
  const { file, start } = blank;
  const lines = new Lines(text, start);
  const place = (offset: number) => ({ file, ...lines.at(offset) });
  if (text.length > largestObject) {
    const size = `${inMebi(text.length)}; review accepts ${inMebi(largestObject)}`;
    const message =
      itemOf === undefined
        ? `the document has ${size}, and larger Lists only as kubectl prints them: split it`
        : `an item of the List has ${size}, and no API server accepts as much`;
    return faultAt(place(text.search(/\S/)), 'CNI_GATE_INPUT_TOO_LARGE', message);
  }
  try {
    const { root, value: own } = parseManifest(text);
    const complete = itemsOf(itemOf)?.complete;
    // an item of a List is in a list of its own, after its dash
    const value = complete !== undefined && Array.isArray(own) ? own.map(complete) : own;
    const lineOf = (path: Path): number => lines.at(offsetNear(root, path)).line;
    return { ...blank, value, lineOf, repeated: repeatedKey(root, lines) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const { message, offset, tooLarge } = error;
    if (tooLarge) return faultAt(place(offset), 'CNI_GATE_INPUT_TOO_LARGE', message);
    const action = unrendered(text);
    if (action !== undefined) return faultAt(place(action), 'CNI_GATE_INPUT_TEMPLATE', notRendered);
    return faultAt(place(offset), 'CNI_GATE_INPUT_SYNTAX', `neither YAML nor JSON: ${message}`);
  }
}

const notRendered =
  'this is a template, not a manifest: render it first, for example with helm template my-chart; if {{ is text, put it in quotes';

/** The second of two equal top-level keys. Deeper ones are left to the API server. */
function repeatedKey(root: unknown, lines: Lines): RepeatedKey | undefined {
  const keys = isMap(root) ? root.items.map(({ key }) => key) : [];
  const seen = new Set<string>();
  for (const key of keys) {
    if (!isScalar(key) || key.source === '<<') continue;
    const text = String(key.value);
    if (seen.has(text)) return { key: text, ...lines.at(key.range?.[0] ?? 0) };
    seen.add(text);
  }
  return undefined;
}
