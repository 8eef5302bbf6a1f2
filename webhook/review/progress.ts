import { clean } from '../lib/clean.ts';

/** Where progress is shown: standard error, or a stand-in for it. */
export interface ProgressStream {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  write(text: string): unknown;
}

/** Milliseconds between two looks of the line: more would only flicker. */
const interval = 100;

/** One line on a terminal that tells how far the work is. In a pipe or a file nothing is written. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #now: () => number;
  #shown = Number.NEGATIVE_INFINITY;
  #dirty = false;

  constructor(stream: ProgressStream, now: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
  }

  /** @param text made only when it is shown */
  tell(text: () => string): void {
    if (this.#stream.isTTY !== true || this.#now() - this.#shown < interval) return;
    this.#shown = this.#now();
    this.#dirty = true;
    // a line that wraps could not be taken back
    const line = clean(text()).slice(0, (this.#stream.columns ?? 80) - 1);
    // back to the first column, and away with what is right of it
    this.#stream.write(`\r${line}\x1b[K`);
  }

  /** Takes the line away. */
  clear(): void {
    if (this.#dirty) this.#stream.write('\r\x1b[K');
    this.#dirty = false;
  }
}
