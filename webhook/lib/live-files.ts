import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { CniGateError, type ErrorCode, errnoOf, messageOf } from './errors.ts';

/** What {@link LiveFiles} reads, and who is told of changes. */
export interface LiveFilesOptions<T> {
  /** Read together and handed to `parse` in this order. */
  paths: string[];
  /** Makes a value from the texts of the files; throws where they cannot be used. */
  parse: (texts: string[]) => T;
  /** The code of the error when a file cannot be read. */
  unreadable: ErrorCode;
  /** Called with each new value after the first. */
  onReload?: (value: T) => void;
  /** Called when a change cannot be used; the last good value stays in force. */
  onError?: (error: unknown) => void;
  /** Milliseconds between two reads of the files' metadata; 1,000 where nothing is given. */
  interval?: number;
}

/** Hears of each reload, and of each change that cannot be used. */
export type ReloadListener = Pick<LiveFilesOptions<unknown>, 'interval'> & {
  onReload: () => void;
  onError: (error: unknown) => void;
};

/**
 * A value that is made from files, and made again when they change. It polls them with `stat`, which follows links: a
 * mounted ConfigMap or Secret changes by replacing a link two folders up, and a watch on the file itself would miss that.
 */
export class LiveFiles<T> {
  readonly #options: LiveFilesOptions<T>;
  #texts: string[];
  #value: T;
  /** Metadata of the files before they were last read; empty before the first poll, which always reads. */
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
    // taken before reading: a change in between shows at the next poll
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
      // a file that was unreadable counts as changed when it is back, whatever it contains
      this.#texts = [];
      const texts = this.#read();
      if (texts.every((text, index) => text === before[index])) {
        this.#texts = texts;
        return;
      }
      // kept before parsing: a wrong file is reported once, not at each poll
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

/** Metadata that changes when the file does, or the reason why it cannot be read. */
async function fingerprintOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch (error) {
    return errnoOf(error) ?? messageOf(error);
  }
}

/**
 * Reads a file.
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
