/** A part of a stream, from one document marker to the next. */
export interface Piece {
  /** Its text: all parts together are the stream. */
  text: string;
  /** The number of its first line. */
  start: number;
}

/**
 * Splits a YAML stream at its document markers, as kubectl does: at every line that begins with `---`, in block scalars
 * and quotes too (apimachinery `pkg/util/yaml` YAMLReader). `...` also ends a document; the text after it, which
 * kubectl ignores, is read as another.
 */
export function* splitStream(text: string): Generator<Piece, undefined> {
  let from = 0;
  let start = 1;
  for (const marker of text.matchAll(/(?<=^|\n)(?:---|\.\.\.(?=[ \t\r\n]|$))/g)) {
    const piece = text.slice(from, marker.index);
    if (piece === '') continue;
    yield { text: piece, start };
    start += newlines(piece);
    from = marker.index;
  }
  if (from < text.length) yield { text: text.slice(from), start };
}

/** The part without its marker; offsets do not change. */
export const withoutMarker = (piece: string): string =>
  piece.replace(/^(?:---|\.\.\.)[ \t]*(?=[\s#]|$)/, (marker) => ' '.repeat(marker.length));

/** Whether there are only markers, comments and directives. */
export function isBlank(piece: string): boolean {
  return !/^(?:[^\S\n]*[^\s#%]|[^\S\n]+%)/m.test(withoutMarker(piece));
}

/** The text after a marker in its line, where only a comment is allowed. */
export function behindMarker(piece: string): string | undefined {
  const rest = /^---(.*)/.exec(piece)?.[1]?.trim() ?? '';
  return rest === '' || rest.startsWith('#') ? undefined : rest;
}

/** The number of line ends in a text. */
export function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Line numbers of offsets in a text; each text is searched for newlines once. */
export class Lines {
  readonly #first: number;
  readonly #starts: number[] = [0];

  /** @param first the number of the text's first line */
  constructor(text: string, first = 1) {
    this.#first = first;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  /** Line and column of an offset, both counted as editors do. */
  at(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: this.#first + low, column: offset - (this.#starts[low] ?? 0) + 1 };
  }
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
