import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parsed, readStream } from '../../webhook/review/input/read.ts';

const module = fileURLToPath(new URL('./reader', import.meta.url));

/** The result of reading a stream: the values of its documents, and the first error. */
export interface Read {
  values: unknown[];
  error?: string | undefined;
}

const folder = mkdtempSync(join(tmpdir(), 'cni-gate-yaml-'));
const program = join(folder, 'reader');
// builds a copy, because -mod=mod writes the required versions into go.mod
cpSync(module, folder, { recursive: true });
runOrThrow('go', ['build', '-C', folder, '-mod=mod', '-o', program, '.']);
after(() => rmSync(folder, { recursive: true }));

/** Reads texts as kubectl does, with a Go program that is built from Kubernetes' own modules. */
export const readByKubernetes = (texts: readonly string[]): Read[] =>
  JSON.parse(runOrThrow(program, [], JSON.stringify(texts)));

function runOrThrow(command: string, args: string[], input = ''): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  if (error) throw new Error(`NOT RUN: this needs Go 1.26 and its module proxy: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`);
  return stdout;
}

/** Reads a text as `review` does. Values are as JSON would transmit them, and blank documents are left out. */
export function readByUs(text: string): Read {
  const read: Read = { values: [] };
  // in `review`, readInput removes the byte order mark
  for (const document of readStream('input', text.replace(/^\uFEFF/, ''))) {
    const { fault } = document;
    if (fault !== undefined) read.error ??= `${fault.line}: ${fault.message} (${fault.code})`;
    else if (parsed(document).value !== null)
      read.values.push(JSON.parse(JSON.stringify(parsed(document).value)));
  }
  return read;
}
