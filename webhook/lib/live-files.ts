import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { CniGateError, type ErrorCode, errnoOf, messageOf } from './errors.ts';

/** What {@link LiveFiles} reads, and who is told of changes. */
export interface LiveFilesOptions<T> {
  /** Read together and handed to `parse` in this order. */
  paths: string[];
  /** Makes the value of the files' texts; throws where they cannot be used. */
  parse: (texts: string[]) => T;
  /** The code of the error when a file cannot be read. */
  unreadable: ErrorCode;
  /** Called with each new value after the first. */
  onReload?: (value: T) => void;
  /** Called when a change could not be used; the last good value stays in force. */
  onError?: (error: unknown) => void;
  /** Milliseconds between two looks at the files. */
  interval?: number;
}

/** Who is told of each reload and of each change that could not be used, and how often files are looked at. */
export type ReloadListener = Pick<LiveFilesOptions<unknown>, 'interval'> & {
  onReload: () => void;
  onError: (error: unknown) => void;
};

/**
 * A value that is made from files and made anew when they change. The files are looked at by `stat`, which
 * follows links: a mounted ConfigMap or Secret changes by swapping a link two folders up, where a watch on the
 * file itself would see nothing.
 */
export class LiveFiles<T> {
  readonly #options: LiveFilesOptions<T>;
  #texts: string[];
  #value: T;
  /** How the files looked before they were last read; nothing before the first look, which always reads. */
  #fingerprint = '';
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @throws CniGateError when the first reading fails: there is no last good value yet */
  constructor(options: LiveFilesOptions<T>) {
    this.#options = options;
    this.#texts = this.#read();
    this.#value = options.parse(this.#texts);
    this.#next();
  }

  get value(): T {
    return this.#value;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #next(): void {
    this.#timer = setTimeout(() => void this.#poll(), this.#options.interval ?? 1000).unref();
  }

  async #poll(): Promise<void> {
    // before reading: what changes between the two is seen at the next look
    const fingerprint = (await Promise.all(this.#options.paths.map(fingerprintOf))).join('\n');
    if (this.#closed) return;
    if (fingerprint !== this.#fingerprint) this.#reload();
    this.#fingerprint = fingerprint;
    this.#next();
  }

  #reload(): void {
    const { onReload, onError, parse } = this.#options;
    try {
      const before = this.#texts;
      // a file that could not be read has changed when it is back, whatever is in it
      this.#texts = [];
      const texts = this.#read();
      if (texts.every((text, index) => text === before[index])) {
        this.#texts = texts;
        return;
      }
      // remembered before it is parsed: a wrong file is told once, not at every look
      this.#texts = texts;
      this.#value = parse(texts);
      onReload?.(this.#value);
    } catch (error) {
      onError?.(error);
    }
  }

  #read(): string[] {
    return this.#options.paths.map((path) => readText(path, this.#options.unreadable));
  }
}

/** What changes when a file does, or the reason why it cannot be looked at. */
async function fingerprintOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch (error) {
    return errnoOf(error) ?? messageOf(error);
  }
}

/**
 * The text of a file.
 *
 * @throws CniGateError with the given code, naming the file and why it could not be read
 */
export function readText(path: string, code: ErrorCode): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CniGateError(code, `cannot read ${path}: ${errnoOf(error) ?? messageOf(error)}`, {
      cause: error,
    });
  }
}
