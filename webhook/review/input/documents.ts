import { messageOf } from '../../errors.ts';
import { type Fault, faultAt, type Path, type SourceDocument } from '../model.ts';
import { cutValues, itemOffsets } from './json.ts';
import { Lines } from './lines.ts';
import { isBlank, type Piece, splitStream, withoutMarker } from './split.ts';
import { offsetNear, parseYaml, plainValue, repeatedKey } from './yaml.ts';

/** A document as it was read, while the places of what is in it are still at hand. */
export interface ReadDocument extends Omit<SourceDocument, 'list'> {
  /** The line on which the value at a path of the document stands, or that of the nearest one around it. */
  lineOf: (path: Path) => number;
}

/**
 * Reads a stream of YAML documents, or of JSON values with `---`, newlines or nothing between them. What cannot
 * be read is told, and the rest is read all the same. Pieces that are blank or unreadable come without a value:
 * their text is kept for its comments.
 *
 * @param file only for messages
 */
export function* readStream(
  file: string,
  text: string,
): Generator<ReadDocument | SourceDocument | Fault, undefined> {
  for (const piece of splitStream(text).flatMap(splitJson)) {
    const { start } = piece;
    const blank: SourceDocument = {
      file,
      start,
      line: start,
      text: piece.text,
      json: false,
      list: false,
      value: undefined,
    };
    const read = isBlank(piece.text) ? blank : readPiece(file, piece);
    yield read;
    if ('code' in read) yield blank;
  }
}

const looksLikeJson = (text: string): boolean => /^\s*[{[]/.test(text);

/** JSON values that stand in one piece of a stream. Flow YAML, which looks alike, stays one piece. */
function splitJson(piece: Piece): Piece[] {
  const text = withoutMarker(piece.text);
  if (!looksLikeJson(text) || parseJson(text) !== undefined) return [piece];
  const cuts = cutValues(text) ?? [];
  if (cuts.length < 3) return [piece];
  // what stands before the first value belongs to it
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

function readPiece(file: string, piece: Piece): ReadDocument | Fault {
  const text = withoutMarker(piece.text);
  const value = looksLikeJson(text) ? parseJson(text) : undefined;
  return value === undefined ? readYaml(file, piece, text) : readJson(file, piece, text, value);
}

function readJson(file: string, piece: Piece, text: string, value: unknown): ReadDocument {
  const lines = new Lines(text, piece.start);
  const line = lines.at(text.search(/\S/)).line;
  let offsets: number[] | undefined;
  const lineOf = (path: Path): number => {
    const index = path.find((part) => typeof part === 'number');
    if (index === undefined) return line;
    offsets ??= itemOffsets(text);
    return lines.at(offsets[index] ?? 0).line;
  };
  return { file, start: piece.start, line, text: piece.text, json: true, value, lineOf };
}

function readYaml(file: string, piece: Piece, text: string): ReadDocument | Fault {
  const lines = new Lines(text, piece.start);
  const fail = (message: string, offset?: number): Fault => {
    const place =
      offset === undefined ? { line: lines.at(Math.max(0, text.search(/\S/))).line } : lines.at(offset);
    return faultAt({ file, ...place }, 'CNI_GATE_INPUT_SYNTAX', message);
  };
  try {
    const document = parseYaml(text);
    const [error] = document.errors;
    if (error !== undefined) {
      // the parser takes the end of the stack for an error of the document
      if (/call stack/.test(error.message)) return fail('the document is nested too deeply', error.pos[0]);
      return fail(`neither YAML nor JSON: ${messageOf(error).replaceAll('\n', ' ')}`, error.pos[0]);
    }
    const repeated = repeatedKey(document);
    if (repeated !== undefined) {
      const key = String(repeated.value);
      return fail(`the key "${key}" is there twice: is a "---" missing before it?`, repeated.range[0]);
    }
    const value = plainValue(document);
    const lineOf = (path: Path): number => lines.at(offsetNear(document.contents, path)).line;
    return { file, start: piece.start, line: lineOf([]), text: piece.text, json: false, value, lineOf };
  } catch (error) {
    if (error instanceof RangeError) return fail('the document is nested too deeply');
    return fail(`no usable YAML: ${messageOf(error)}`);
  }
}
