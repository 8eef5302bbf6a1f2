import { readFileSync } from 'node:fs';

/** The child of a process that has one child at most, or the process itself where it has none. */
export function programOf(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const child = Number(read(`/proc/${pid}/task/${pid}/children`).trim().split(' ')[0]);
  return child > 0 ? child : pid;
}

/** The most memory that a process had resident so far, in KiB; 0 where there is no such process. */
export function peakOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
