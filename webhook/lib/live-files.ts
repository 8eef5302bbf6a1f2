import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
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
  /** Milliseconds between two reads of the files; 1,000 where nothing is given. */
  interval?: number;
}

/** Hears of each reload, and of each change that cannot be used. */
export type ReloadListener = Pick<LiveFilesOptions<unknown>, 'interval'> & {
  onReload: () => void;
  onError: (error: unknown) => void;
};

/**
 * A value that is made from files, and made again when they change. It reads them again and again: a mounted ConfigMap or
 * Secret changes by replacing a link two folders up, and a watch on the file itself would miss that.
 */
export class LiveFiles<T> {
  readonly #options: LiveFilesOptions<T>;
  /** The texts as they were last read, or why that failed: what stays the same is reported once. */
  #seen: string[];
  #value: T;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @throws CniGateError when the first reading fails: there is no last good value yet */
  constructor(options: LiveFilesOptions<T>) {
    this.#options = options;
    this.#seen = options.paths.map((path) => readText(path, options.unreadable));
    this.#value = options.parse(this.#seen);
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
    const { paths, unreadable, parse, onReload, onError } = this.#options;
    const read = await Promise.all(
      paths.map((path) => readFile(path, 'utf8').catch((error) => unreadableFile(path, unreadable, error))),
    );
    if (this.#closed) return;
    const failure = read.find((each) => each instanceof Error);
    const texts = read.map(String);
    if (texts.some((text, index) => text !== this.#seen[index])) {
      this.#seen = texts;
      try {
        if (failure) throw failure;
        this.#value = parse(texts);
        onReload?.(this.#value);
      } catch (error) {
        onError?.(error);
      }
    }
    this.#next();
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
    throw unreadableFile(path, code, error);
  }
}

const unreadableFile = (path: string, code: ErrorCode, cause: unknown): CniGateError =>
  new CniGateError(code, `cannot read ${path}: ${errnoOf(cause) ?? messageOf(cause)}`, { cause });
