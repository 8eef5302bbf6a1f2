import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/**
 * Runs a command to its end.
 *
 * @returns its standard output
 * @throws Error with the command and its standard error if it does not end with 0
 */
export async function run(command: string, args: string[]): Promise<string> {
  const { stdout } = await execute(command, args, { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}
