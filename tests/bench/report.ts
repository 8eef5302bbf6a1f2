/** Writes the results of benches to the terminal, and with `--report PAGE` into the documentation. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, type as system } from 'node:os';

/** The benches with a section in `docs/performance.md`, and the command that runs each. */
const sections = {
  create: 'npm run bench create',
  requests: 'npm run bench',
  scale: 'npm run bench scale',
  validator: 'npm run bench validator',
} as const;

type Aim = { atMost: number } | { atLeast: number };

export interface Row {
  /** What was measured, such as `resident memory`. */
  figure: string;
  /** The conditions, such as `5,000 nodes`. */
  conditions: string;
  measured: number;
  /** The unit, such as `ms`, `MiB` or `/s`. For a ratio, it names the reference: `× bare node:https`. */
  unit: string;
  aim?: Aim;
}

const at = process.argv.indexOf('--report');
const page = at < 0 ? undefined : process.argv[at + 1];
// if the page does not exist, fails now and not after the minutes that a bench takes
if (page !== undefined) readFileSync(page);

const digits = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** A figure with its unit: three significant digits, but no fraction from 1,000 on. */
function textOf(value: number, unit: string): string {
  const number = Math.abs(value) < 1000 ? digits.format(value) : whole.format(value);
  return unit === '' || unit.startsWith('/') ? `${number}${unit}` : `${number} ${unit}`;
}

/** An aim and whether it was met, such as `≤ 150 MiB, met`. */
function aimText(measured: number, aim: Aim, unit: string): string {
  const [sign, limit, met] =
    'atMost' in aim ? ['≤', aim.atMost, measured <= aim.atMost] : ['≥', aim.atLeast, measured >= aim.atLeast];
  return `${sign} ${textOf(limit, unit)}, ${met ? 'met' : '**missed**'}`;
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

/** Prints the figures and the machine. With `--report PAGE`, replaces the bench's section of that page. */
export function report(section: keyof typeof sections, rows: readonly Row[]): void {
  console.log(`\n${sections[section]}: ${machineText()}`);
  for (const { figure, conditions, measured, unit, aim } of rows) {
    const limit = aim ? `   aim ${aimText(measured, aim, unit)}` : '';
    console.log(
      `${[figure, conditions].filter(Boolean).join(', ').padEnd(80)} ${textOf(measured, unit)}${limit}`,
    );
  }
  if (page === undefined) return;
  const lines = rows.flatMap(({ figure, conditions, measured, unit, aim }) =>
    aim
      ? [`- ${figure}, ${conditions}: ${textOf(measured, unit)} (aim ${aimText(measured, aim, unit)})`]
      : [],
  );
  const text = readFileSync(page, 'utf8');
  const [begin, end] = ['begin', 'end'].map((which) => `<!-- figures of ${section}: ${which} -->`);
  const [from, to] = [text.indexOf(String(begin)), text.indexOf(String(end))];
  if (from < 0 || to < from)
    throw new Error(`expected the lines "${begin}" and "${end}" in ${page}: add them`);
  const measured = `Measured: ${machineText()}.\n\n${lines.join('\n')}`;
  writeFileSync(page, `${text.slice(0, from)}${begin}\n\n${measured}\n\n${text.slice(to)}`);
}
