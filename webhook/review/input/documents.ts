import { isMap, isScalar } from 'yaml';
import { type CniGateError, messageOf } from '../../lib/errors.ts';
import { offsetNear, YamlError } from '../../lib/yaml.ts';
import { type Fault, faultAt, type Path, type SourceDocument } from '../model.ts';
import { itemsOf } from './items.ts';
import { cutValues, itemRanges, type Range } from './json.ts';
import { inMebi, largestObject, tooLarge } from './limits.ts';
import { Lines } from './lines.ts';
import { cutJsonList, cutYamlList } from './list.ts';
import { behindMarker, isBlank, newlines, type Piece, splitStream, withoutMarker } from './split.ts';
import { unrendered } from './template.ts';
import { parseManifest } from './yaml.ts';

/** A document that was read, with the positions of its parts. */
export interface ReadDocument extends Omit<SourceDocument, 'list' | 'reviewed'> {
  value: unknown;
  /** Whether it is an item of a split List. */
  isItem: boolean;
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
  /** All values that the object's `kind` is given. */
  kinds: string[];
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
    if (piece.text.length > largestObject) yield* partsOfLarge(piece);
    else yield* splitJson(piece);
  }
}

/** A part that is too large for one object can be a List, or several JSON values. */
function* partsOfLarge(piece: Piece): Generator<Part, undefined> {
  const text = withoutMarker(piece.text);
  const json = looksLikeJson(text);
  const values = json ? splitValues(piece, text) : [];
  if (values.length > 1) {
    for (const value of values) {
      if (value.text.length > largestObject) yield* partsOfLarge(value);
      else yield { ...value, continues: false };
    }
    return;
  }
  const cut = json ? cutJsonList(text) : cutYamlList(text);
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

const looksLikeJson = (text: string): boolean => /^\s*[{[]/.test(text);

/** Splits JSON values in one part of a stream. Flow YAML, which looks similar, stays one part. */
function splitJson(piece: Piece): Part[] {
  const text = withoutMarker(piece.text);
  const whole = [{ ...piece, continues: false }];
  if (!looksLikeJson(text) || parseJson(text) !== undefined) return whole;
  const values = splitValues(piece, text);
  return values.length > 1 ? values.map((value) => ({ ...value, continues: false })) : whole;
}

function splitValues(piece: Piece, text: string): Piece[] {
  const cuts = cutValues(text) ?? [];
  if (cuts.length < 3) return [piece];
  // text before the first value belongs to it
  const lines = new Lines(piece.text, piece.start);
  const starts = [0, ...cuts.slice(1)];
  return starts.slice(0, -1).map((from, index) => ({
    text: piece.text.slice(from, starts[index + 1]),
    start: lines.at(from).line,
  }));
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
  line: start,
  text,
  continues,
  json: false,
  list: false,
  reviewed: false,
});

function readPart(file: string, part: Part, blank: SourceDocument): ReadDocument | SourceDocument | Fault {
  const behind = behindMarker(part.text);
  if (behind !== undefined) {
    const message = `expected the end of the line or a comment after "---", as kubectl does; found ${behind.slice(0, 40)}`;
    return faultAt({ file, line: part.start }, 'CNI_GATE_INPUT_SYNTAX', message);
  }
  if (part.between || isBlank(part.text)) return blank;
  const { line } = new Lines(part.text, part.start).at(Math.max(0, withoutMarker(part.text).search(/\S/)));
  if (part.text.length > largestObject) {
    const { code, message } = tooLargeObject(part);
    return faultAt({ file, line }, code, message);
  }
  const text = withoutMarker(part.text);
  const value = looksLikeJson(text) ? parseJson(text) : undefined;
  return value === undefined ? readYaml(file, part, text) : readJson(file, part, text, value);
}

const tooLargeObject = ({ text, itemOf }: Part): CniGateError =>
  tooLarge(
    itemOf === undefined
      ? `the document has ${inMebi(text.length)}; review accepts ${inMebi(largestObject)}, and larger Lists only as kubectl prints them: split it`
      : `an item of the List has ${inMebi(text.length)}; review accepts ${inMebi(largestObject)}, and no API server accepts as much`,
  );

function readJson(file: string, part: Part, text: string, value: unknown): ReadDocument {
  const { start, continues, itemOf } = part;
  const isItem = itemOf !== undefined;
  const lines = new Lines(text, start);
  const line = lines.at(text.search(/\S/)).line;
  let ranges: Range[] | undefined;
  const lineOf = (path: Path): number => {
    const index = path.find((step) => typeof step === 'number');
    if (index === undefined) return line;
    ranges ??= itemRanges(text);
    return lines.at(ranges[index]?.start ?? 0).line;
  };
  const own = completed(value, itemOf);
  return { file, start, line, text: part.text, continues, isItem, json: true, value: own, lineOf };
}

function readYaml(file: string, part: Part, text: string): ReadDocument | Fault {
  const { start, continues, itemOf } = part;
  const isItem = itemOf !== undefined;
  const lines = new Lines(text, start);
  try {
    const { root, value: own } = parseManifest(text);
    const value = completed(own, itemOf);
    const lineOf = (path: Path): number => lines.at(offsetNear(root, path)).line;
    const repeated = repeatedKey(root, lines);
    const line = lineOf([]);
    return { file, start, line, text: part.text, continues, isItem, json: false, value, lineOf, repeated };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    if (error.tooLarge) {
      return faultAt({ file, ...lines.at(error.offset) }, 'CNI_GATE_INPUT_TOO_LARGE', error.message);
    }
    const action = unrendered(text);
    if (action !== undefined)
      return faultAt({ file, ...lines.at(action) }, 'CNI_GATE_INPUT_TEMPLATE', notRendered);
    return faultAt(
      { file, ...lines.at(error.offset) },
      'CNI_GATE_INPUT_SYNTAX',
      `neither YAML nor JSON: ${messageOf(error)}`,
    );
  }
}

/** An item with the fields that it inherits from its List. An item of YAML is in its own list, after its dash. */
function completed(value: unknown, list: unknown): unknown {
  const complete = itemsOf(list)?.complete;
  if (complete === undefined) return value;
  return Array.isArray(value) ? value.map(complete) : complete(value);
}

const notRendered =
  'this is a template, not a manifest: render it first, for example with helm template my-chart; if {{ is text, put it in quotes';

/** The second of two equal top-level keys. Deeper ones are left to the API server. */
function repeatedKey(root: unknown, lines: Lines): RepeatedKey | undefined {
  if (!isMap(root)) return undefined;
  const pairs = root.items.flatMap(({ key, value }) =>
    isScalar(key) && key.source !== '<<' ? [{ key, text: String(key.value), value }] : [],
  );
  const seen = new Set<string>();
  for (const { key, text } of pairs) {
    if (seen.has(text)) {
      const kinds = pairs.flatMap(({ text: one, value }) =>
        one === 'kind' && isScalar(value) ? [String(value.value)] : [],
      );
      return { key: text, ...lines.at(key.range?.[0] ?? 0), kinds };
    }
    seen.add(text);
  }
  return undefined;
}
