import { createReadStream, readFileSync, statSync } from 'node:fs';
import { errnoOf, messageOf } from '../../lib/errors.ts';
import { type Fault, faultAt } from '../model.ts';
import { standardInput, standardInputName } from './inputs.ts';
import { tooMuchInput } from './limits.ts';
import { explain, unreadable } from './unreadable.ts';

/** A text to review, and where it comes from. */
export interface Input {
  /** Its name for messages. */
  file: string;
  text: string;
  /** Its size in bytes. */
  size: number;
}

/**
 * Reads a file, or standard input for `-`, as UTF-8 text without a byte order mark.
 *
 * @param max the maximum number of bytes
 */
export async function readInput(path: string, max: number): Promise<Input | Fault> {
  const file = path === standardInput ? standardInputName : path;
  try {
    const bytes = path === standardInput ? await readUpTo(process.stdin, max) : await readFile(path, max);
    if (bytes !== undefined) return decode(file, bytes);
    return faultAt({ file }, 'CNI_GATE_INPUT_TOO_LARGE', tooMuchInput());
  } catch (error) {
    return unreadable(file, explain(errnoOf(error) ?? messageOf(error)));
  }
}

/** A pipe or another special file has no size. */
async function readFile(path: string, max: number): Promise<Buffer | undefined> {
  const stats = statSync(path);
  if (!stats.isFile()) return readUpTo(createReadStream(path), max);
  return stats.size > max ? undefined : readFileSync(path);
}

/** Undefined if there is more. */
async function readUpTo(stream: NodeJS.ReadableStream, max: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > max) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function decode(file: string, bytes: Buffer): Input | Fault {
  const nul = bytes.indexOf(0);
  if (nul >= 0)
    return unreadable(file, `expected UTF-8 text, found a NUL byte at ${nul}: is it binary, or UTF-16?`);
  const text = decodeText(bytes);
  if (text === undefined) return unreadable(file, 'expected UTF-8 text, found other bytes');
  return { file, text, size: bytes.length };
}

/** UTF-8 text without a byte order mark; undefined if the bytes are something else. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
