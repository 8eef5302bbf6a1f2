/** Puts load on a server, and measures the processor time and memory that the server uses. */
import { readFileSync } from 'node:fs';
import { type Agent, request } from 'node:https';
import { exchange } from '../support/exchange.ts';

export const connections = 20;

interface Target {
  port: number;
  agent: Agent;
  usage(): ReturnType<typeof usageOf>;
}

/** Sends one body, as the API server does. @throws Error if the status of the answer is not 200 */
async function post({ agent, port }: Target, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const to = { agent, host: '127.0.0.1', port, path: '/mutate?timeout=10s', method: 'POST' };
  const { status } = await exchange(request({ ...to, headers }), body);
  if (status !== 200) throw new Error(`status ${status}`);
}

/**
 * Sends one body over all connections for `seconds`.
 * @returns the requests for each second of the server's processor time, and its peak of resident memory in MiB
 * @throws Error if the status of an answer is not 200
 */
export async function load(
  server: Target,
  body: string,
  seconds: number,
): Promise<{ rate: number; peak: number }> {
  let count = 0;
  const before = server.usage();
  const end = Date.now() + seconds * 1000;
  const worker = async (): Promise<void> => {
    for (; Date.now() < end; count++) await post(server, body);
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const after = server.usage();
  return { rate: count / (after.seconds - before.seconds), peak: after.peak };
}

/** Processor time in seconds and memory in MiB of a process, from the kernel: proc_pid_stat(5), proc_pid_status(5). */
export function usageOf(pid: number | undefined): { seconds: number; peak: number; memory: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  // the process name in parentheses may contain spaces, so everything up to it is cut off
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  // fields 14 and 15 (user and system time), in hundredths of a second
  const seconds = (Number(fields[11]) + Number(fields[12])) / 100;
  return { seconds, peak: mebibytes('VmHWM'), memory: mebibytes('VmRSS') };
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
