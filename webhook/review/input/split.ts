/** A piece of a stream, from one document marker to the next. */
export interface Piece {
  /** As it stands in the stream: all pieces together are the stream. */
  text: string;
  /** The number of its first line. */
  start: number;
}

/**
 * Cuts a YAML stream at its document markers. A marker at the beginning of a line is one wherever it stands, in
 * block scalars and quotes too (YAML 1.2.2, 9.1.2), so that no document can spoil the ones behind it.
 */
export function splitStream(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  let start = 1;
  const take = (to: number): void => {
    const piece = text.slice(from, to);
    if (piece !== '') pieces.push({ text: piece, start });
    start += newlines(piece);
    from = to;
  };
  for (const marker of text.matchAll(/(?<=^|\n)(?:---|\.\.\.)(?=[ \t\r\n]|$)/g)) take(marker.index);
  take(text.length);
  return pieces;
}

/** The piece without its marker; offsets stay as they were. */
export const withoutMarker = (piece: string): string => piece.replace(/^(?:---|\.\.\.)(?=\s|$)/, '   ');

/** Whether nothing but markers, comments and directives is there. */
export function isBlank(piece: string): boolean {
  return !/^[^\S\n]*[^\s#%]/m.test(withoutMarker(piece));
}

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
