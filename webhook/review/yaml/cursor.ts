import { byteOrderMark, carriageReturn, isBlank, isBreak, isSpaceOrEnd, newline } from './characters.ts';

/** A text and a position in it, with the column for indentation. */
export class Cursor {
  readonly text: string;
  at: number;
  /** The number of the line, from 0. */
  line = 0;
  #lineStart: number;

  constructor(text: string) {
    this.text = text;
    this.at = 0;
    this.#lineStart = 0;
  }

  /** Skips a byte order mark, which has no column. */
  byteOrderMark(): void {
    if (this.column !== 0 || this.code() !== byteOrderMark) return;
    this.at += 1;
    this.#lineStart = this.at;
  }

  get column(): number {
    return this.at - this.#lineStart;
  }

  /** The code of a character further ahead. */
  code(peek = 0): number {
    return this.text.charCodeAt(this.at + peek);
  }

  char(): string {
    return this.text.charAt(this.at);
  }

  /** Skips a line end, and returns its text in a scalar. */
  lineBreak(): string {
    const code = this.code();
    this.at += code === carriageReturn && this.code(1) === newline ? 2 : 1;
    this.line += 1;
    this.#lineStart = this.at;
    return code === 0x2028 || code === 0x2029 ? String.fromCharCode(code) : '\n';
  }

  blanks(): void {
    while (isBlank(this.code())) this.at += 1;
  }

  comment(): void {
    if (this.char() !== '#') return;
    let code = this.code();
    while (!isBreak(code) && !Number.isNaN(code)) {
      this.at += 1;
      code = this.code();
    }
  }

  /** Whether a line with only `---` or `...`, or with space after them, begins here. */
  atMarker(): boolean {
    if (this.column !== 0 || !isSpaceOrEnd(this.code(3))) return false;
    return this.text.startsWith('---', this.at) || this.text.startsWith('...', this.at);
  }
}
