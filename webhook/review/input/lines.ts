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

  /** The offset of the beginning of a line; undefined after the last. */
  startOf(line: number): number | undefined {
    return this.#starts[line - this.#first];
  }
}
