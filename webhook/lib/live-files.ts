import { closeSync, openSync, readSync } from 'node:fs';
import { isDeepStrictEqual as same } from 'node:util';
import { CniGateError, type ErrorCode, messageOf, systemText } from './errors.ts';
import { fileBytes } from './limits.ts';

export interface ReloadListener {
  /** Called after each change of the value. */
  onReload: () => void;
  /** Called when a change cannot be used; the last good value stays in force. */
  onError: (error: unknown) => void;
  /** Milliseconds between two reads of the files (default 1,000). */
  interval?: number;
}

interface LiveFilesOptions<T> extends ReloadListener {
  paths: string[];
  /** Parses the contents of the files; throws if they are not usable. */
  parse: (texts: string[]) => T;
  /** The error code if a file cannot be read. */
  unreadable: ErrorCode;
}

/**
 * A value computed from files, and computed again after each change. The files are polled: the kubelet
 * updates a mounted ConfigMap or Secret by replacing a link to a folder, which no watch on a file reports.
 */
export class LiveFiles<T> {
  readonly #options: LiveFilesOptions<T>;
  readonly #timer: NodeJS.Timeout;
  /** What was read last: the texts, or the error's message. Nothing is reported until this changes. */
  #seen: string[];
  #value: T;

  /** @throws CniGateError if the first reading fails, because there is no earlier value */
  constructor(options: LiveFilesOptions<T>) {
    this.#options = options;
    this.#seen = this.#read();
    this.#value = options.parse(this.#seen);
    this.#timer = setInterval(() => this.#reload(), options.interval ?? 1000).unref();
  }

  get value(): T {
    return this.#value;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #read(): string[] {
    return this.#options.paths.map((path) => readText(path, this.#options.unreadable));
  }

  #reload(): void {
    const { parse, onReload, onError } = this.#options;
    let texts: string[];
    let unreadable: unknown;
    try {
      texts = this.#read();
    } catch (error) {
      texts = [messageOf(error)];
      unreadable = error;
    }
    if (same(texts, this.#seen)) return;
    this.#seen = texts;
    try {
      if (unreadable !== undefined) throw unreadable;
      this.#value = parse(texts);
      onReload();
    } catch (error) {
      onError(error);
    }
  }
}

/** Reads a file of at most {@link fileBytes}. @throws CniGateError with the given code */
export function readText(path: string, code: ErrorCode): string {
  try {
    const file = openSync(path, 'r');
    try {
      return readAll(file).toString();
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new CniGateError(code, `cannot read ${path}: ${systemText(error)}`, { cause: error });
  }
}

/** The bytes are counted while they are read, because a pipe or special file has no known size. */
function readAll(file: number): Buffer {
  const chunks: Buffer[] = [];
  for (let left = fileBytes; left >= 0; ) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const count = readSync(file, chunk);
    if (count === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, count));
    left -= count;
  }
  throw new Error(`it has more than ${fileBytes / 2 ** 20} MiB`);
}
