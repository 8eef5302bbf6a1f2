import { readFileSync } from 'node:fs';

/** The only child of a process, or the process itself if it has none. */
export function programOf(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const child = Number(read(`/proc/${pid}/task/${pid}/children`).trim().split(' ')[0]);
  return child > 0 ? child : pid;
}

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
