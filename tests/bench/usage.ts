import { readFileSync } from 'node:fs';
import type { Usage } from './load.ts';

/** What a process has taken since its start, by the kernel's count: proc_pid_stat(5), proc_pid_status(5). */
export function usageOf(pid: number | undefined): Usage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  // the name of the process, in parentheses, may have spaces
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  // fields 14 and 15, in hundredths
  const seconds = (Number(fields[11]) + Number(fields[12])) / 100;
  return { seconds, peak: Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024 };
}
