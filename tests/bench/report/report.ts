/** Where benches write what they measured: to the terminal, and with `--report PAGE` into the documentation. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, type as system } from 'node:os';
import { basename, join } from 'node:path';
import {
  aimText,
  type Figures,
  type Machine,
  type Measured,
  machineText,
  type Row,
  type Section,
  sections,
  textOf,
} from './figures.ts';
import { replaceSection, sectionText } from './page.ts';
import { plot } from './plot.ts';

const flag = '--report';

/**
 * The arguments of a bench without `--report PAGE`.
 *
 * @param known all that the bench has, where it does not read them itself
 * @throws Error where the flag has no page that exists, and for an argument that is not known
 */
export function benchArguments(known?: readonly string[]): { rest: string[]; page: string | undefined } {
  const rest = process.argv.slice(2);
  const at = rest.indexOf(flag);
  const [, page] = at < 0 ? [] : rest.splice(at, 2);
  if (at >= 0 && !(page?.endsWith('.md') && existsSync(page))) {
    throw new Error(`${flag} needs a page that exists, such as ${flag} docs/performance.md, and got ${page}`);
  }
  const [unknown] = known === undefined ? [] : rest.filter((one) => !known.includes(one));
  if (unknown !== undefined) {
    throw new Error(
      `unknown argument ${unknown}: expected ${[...(known ?? []), `${flag} PAGE`].join(' or ')}`,
    );
  }
  return { rest, page };
}

// a bench takes minutes: a wrong flag fails before
const { page } = benchArguments();

/** This machine, now. @param versions of programs beside Node */
export function thisMachine(versions: Record<string, string> = {}): Machine {
  const [first] = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    processor: first?.model.trim() ?? 'unknown processor',
    cores: cpus().length,
    // without what distributions and clouds append
    kernel: `${system()} ${/^[\d.]+/.exec(release())?.[0] ?? release()}`,
    versions: { Node: process.version, ...versions },
  };
}

/**
 * Prints a bench's figures with the machine and versions. With `--report PAGE` it also replaces the bench's section of
 * that page, its plot, and its figures in `figures.json`, in the folder with the page's name: others stay.
 *
 * @param versions of programs beside Node, such as `{ Go: '1.26.1' }`
 */
export function report(section: Section, rows: readonly Row[], versions: Record<string, string> = {}): void {
  const machine = thisMachine(versions);
  console.log(`\n${sections[section]}: ${machineText(machine)}`);
  for (const { figure, conditions, measured, unit, aim } of rows) {
    const limit = aim ? `   aim ${aimText(aim, unit)}` : '';
    console.log(
      `${[figure, conditions].filter(Boolean).join(', ').padEnd(80)} ${textOf(measured, unit)}${limit}`,
    );
  }
  if (page !== undefined) write(page, section, { machine, rows: [...rows] });
}

function write(page: string, section: Section, measured: Measured): void {
  const folder = page.slice(0, -'.md'.length);
  const file = join(folder, 'figures.json');
  mkdirSync(folder, { recursive: true });
  const before: Figures = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const text = sectionText(section, measured, basename(folder));
  // first, because it fails where the page has no such section
  writeFileSync(page, replaceSection(readFileSync(page, 'utf8'), section, text));
  writeFileSync(file, `${JSON.stringify({ ...before, [section]: measured }, null, 2)}\n`);
  writeFileSync(join(folder, `${section}.svg`), plot(`Figures of ${sections[section]}`, measured.rows));
}
