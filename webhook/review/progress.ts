import { clean } from '../lib/clean.ts';

/** The stream for progress: standard error, or a substitute. */
export interface ProgressStream {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  write(text: string): unknown;
}

/** Milliseconds between two updates of the line: a shorter time would only flicker. */
const interval = 100;

/** A progress line on a terminal. Nothing is written to a pipe or a file. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #now: () => number;
  #shown = Number.NEGATIVE_INFINITY;
  #dirty = false;

  constructor(stream: ProgressStream, now: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
  }

  /** @param text called only when the line is shown */
  tell(text: () => string): void {
    if (this.#stream.isTTY !== true || this.#now() - this.#shown < interval) return;
    this.#shown = this.#now();
    this.#dirty = true;
    // a wrapped line could not be erased
    const line = clean(text()).slice(0, (this.#stream.columns ?? 80) - 1);
    // return to the first column and erase the line
    this.#stream.write(`\r${line}\x1b[K`);
  }

  /** Erases the line. */
  clear(): void {
    if (this.#dirty) this.#stream.write('\r\x1b[K');
    this.#dirty = false;
  }
}
