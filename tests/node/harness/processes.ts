import { readdirSync, readFileSync } from 'node:fs';

/** Reads a file in `/proc/PID`; empty if the process has ended. */
export function ofProcess(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** The ids, as the run sees them, of the processes whose file in `/proc/PID` contains a text. */
export const processesWith = (file: string, text: string): string[] =>
  readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && ofProcess(pid, file).includes(text));
