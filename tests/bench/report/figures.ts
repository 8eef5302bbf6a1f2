/** What benches measure, as `docs/performance/figures.json` keeps it. */

/** The benches with a section in `docs/performance.md`, and the command that runs each. */
export const sections = {
  requests: 'npm run bench',
  peers: 'npm run bench peers',
  create: 'npm run bench create',
  scale: 'npm run bench scale',
  validator: 'npm run bench validator',
} as const;

export type Section = keyof typeof sections;

/** A limit that a figure should keep. */
export type Aim = { atMost: number } | { atLeast: number };

/** One measured figure. */
export interface Row {
  /** What was measured, such as `resident memory`. */
  figure: string;
  /** Under which conditions, such as `5,000 nodes`. */
  conditions: string;
  measured: number;
  /** Such as `ms`, `MiB` or `/s`. A ratio says of what: `× bare node:https`. Rows of one unit share an axis. */
  unit: string;
  aim?: Aim;
}

/** Where and when the figures of a section were measured. */
export interface Machine {
  /** Day, in UTC: `2026-01-31`. */
  date: string;
  processor: string;
  cores: number;
  /** Of the operating system, such as `Linux 6.12.1`. */
  kernel: string;
  /** Of programs, such as `{ Node: 'v24.1.0' }`. */
  versions: Record<string, string>;
}

/** The latest run of one bench. */
export interface Measured {
  machine: Machine;
  rows: Row[];
}

/** The whole file. */
export type Figures = Partial<Record<Section, Measured>>;

const digits = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** A figure with its unit: three significant digits, and no fraction from 1,000 on. */
export function textOf(value: number, unit: string): string {
  const number = Math.abs(value) < 1000 ? digits.format(value) : whole.format(value);
  return unit === '' || unit.startsWith('/') ? `${number}${unit}` : `${number} ${unit}`;
}

/** Such as `≤ 150 MiB`. */
export const aimText = (aim: Aim, unit: string): string =>
  'atMost' in aim ? `≤ ${textOf(aim.atMost, unit)}` : `≥ ${textOf(aim.atLeast, unit)}`;

/** The value of the limit. */
export const aimValue = (aim: Aim): number => ('atMost' in aim ? aim.atMost : aim.atLeast);

/** Whether a figure keeps its limit. */
export const isMet = (measured: number, aim: Aim): boolean =>
  'atMost' in aim ? measured <= aim.atMost : measured >= aim.atLeast;

/** Such as `2026-01-31, AMD EPYC, 2 cores, Linux 6.12.1, Node v24.1.0`. */
export function machineText({ date, processor, cores, kernel, versions }: Machine): string {
  const programs = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [date, processor, `${cores} ${cores === 1 ? 'core' : 'cores'}`, kernel, ...programs].join(', ');
}
