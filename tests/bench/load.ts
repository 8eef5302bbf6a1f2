/** Puts the same load on each compared server, and measures the processor time and memory that the server uses. */
import { readFileSync } from 'node:fs';
import { type Agent, request } from 'node:https';
import { exchange } from '../support/exchange.ts';

export const connections = 20;

export interface Usage {
  seconds: number;
  /** Peak of resident memory, in MiB. */
  peak: number;
}

export interface Target {
  port: number;
  agent: Agent;
  usage(): Promise<Usage>;
}

export interface Figures {
  /** Requests for each CPU second of the server. */
  rate: number;
  /** The 99th percentile of the requests' durations, in milliseconds. */
  p99: number;
  /** Peak of resident memory so far, in MiB. */
  peak: number;
}

/** Posts a body as the API server does. @throws Error if the status of the answer is not 200 */
async function post({ agent, port }: Target, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const to = { agent, host: '127.0.0.1', port, path: '/mutate?timeout=10s', method: 'POST' };
  const { status } = await exchange(request({ ...to, headers }), body);
  if (status !== 200) throw new Error(`status ${status}`);
}

/** Posts a body repeatedly over all connections for `seconds`. @throws Error if the status of an answer is not 200 */
export async function load(server: Target, body: string, seconds: number): Promise<Figures> {
  const took: number[] = [];
  const before = await server.usage();
  const end = Date.now() + seconds * 1000;
  const one = async (): Promise<void> => {
    const begin = performance.now();
    await post(server, body);
    took.push(performance.now() - begin);
  };
  const worker = async (): Promise<void> => {
    while (Date.now() < end) await one();
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const after = await server.usage();
  const sorted = took.toSorted((a, b) => a - b);
  return {
    rate: took.length / (after.seconds - before.seconds),
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    peak: after.peak,
  };
}

/** Processor time and memory of a process, from the kernel: proc_pid_stat(5), proc_pid_status(5). */
export function usageOf(pid: number | undefined): Usage & { memory: number } {
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
