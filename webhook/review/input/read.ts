import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { errnoOf, messageOf } from '../../errors.ts';
import type { Fault } from '../model.ts';
import { standardInput } from './inputs.ts';
import { explain, unreadable } from './unreadable.ts';

export interface Input {
  /** The name that messages call it by. */
  file: string;
  text: string;
}

/** Reads a file, or standard input for `-`: UTF-8 text, a byte order mark is taken off. */
export async function readInput(path: string): Promise<Input | Fault> {
  const file = path === standardInput ? 'stdin' : path;
  try {
    return decode(file, path === standardInput ? await buffer(process.stdin) : readFileSync(path));
  } catch (error) {
    return unreadable(file, explain(errnoOf(error) ?? messageOf(error)));
  }
}

function decode(file: string, bytes: Buffer): Input | Fault {
  const nul = bytes.indexOf(0);
  if (nul >= 0)
    return unreadable(file, `expected UTF-8 text, found a NUL byte at ${nul}: is it binary, or UTF-16?`);
  try {
    return { file, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return unreadable(file, 'expected UTF-8 text; its bytes are not');
  }
}
