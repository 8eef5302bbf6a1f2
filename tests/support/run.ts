import { spawn } from 'node:child_process';

/** Runs a command until it ends. @returns its standard output */
export function run(command: string, args: string[], input = '', env?: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], ...(env && { env }) });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    // a command that ends without reading its input causes EPIPE, but its exit code explains more
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(stdout);
      const given = input === '' ? '' : `\ngiven:\n${input}`;
      reject(
        new Error(`${command} ${args.join(' ')}: ended with ${code ?? signal}\n${stderr}${stdout}${given}`),
      );
    });
  });
}
