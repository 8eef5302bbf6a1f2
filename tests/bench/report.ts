/** Prints the results of benches in the form of docs/performance.md. */
import { cpus, release, type as system } from 'node:os';

export interface Row {
  /** What was measured, such as `resident memory`. */
  figure: string;
  /** The conditions, such as `5,000 nodes`. */
  conditions: string;
  measured: number;
  /** The unit, such as `ms`, `MiB` or `/s`. For a ratio, it names the reference: `× webhook`. */
  unit: string;
  aim?: { atMost: number };
}

const digits = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** A figure with its unit: three significant digits, but no fraction from 1,000 on. */
function textOf(value: number, unit: string): string {
  const number = Math.abs(value) < 1000 ? digits.format(value) : whole.format(value);
  return unit === '' || unit.startsWith('/') ? `${number}${unit}` : `${number} ${unit}`;
}

/** Today's date and this machine, such as `2026-01-31, AMD EPYC, 2 cores, Linux 6.12.1, Node v24.1.0`. */
function machineText(): string {
  const [first] = cpus();
  // the version without suffixes that distributions and clouds append
  const kernel = /^[\d.]+/.exec(release())?.[0] ?? release();
  return [
    new Date().toISOString().slice(0, 10),
    first?.model.trim() ?? 'unknown processor',
    `${cpus().length} cores`,
    `${system()} ${kernel}`,
    `Node ${process.version}`,
  ].join(', ');
}

/** Prints the figures, the aims, and whether these were met. */
export function report(rows: readonly Row[]): void {
  console.log(`\nMeasured: ${machineText()}.\n`);
  for (const { figure, conditions, measured, unit, aim } of rows) {
    const met = aim && measured <= aim.atMost ? 'met' : '**missed**';
    const limit = aim ? ` (aim ≤ ${textOf(aim.atMost, unit)}, ${met})` : '';
    console.log(`- ${figure}, ${conditions}: ${textOf(measured, unit)}${limit}`);
  }
}
