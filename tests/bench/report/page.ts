/** The sections of `docs/performance.md` that benches write. Pure. */
import { aimText, isMet, type Measured, machineText, type Section, sections, textOf } from './figures.ts';

const begin = (section: Section): string => `<!-- figures of ${section}: begin -->`;
const end = (section: Section): string => `<!-- figures of ${section}: end -->`;

/**
 * One section as Markdown: conditions, a table of the figures with an aim, and a plot of all of them.
 *
 * @param folder of the plots, relative to the page
 */
export function sectionText(section: Section, { machine, rows }: Measured, folder: string): string {
  const cells = rows.flatMap(({ figure, conditions, measured, unit, aim }) => {
    if (aim === undefined) return [];
    const limit = `${aimText(aim, unit)}: ${isMet(measured, aim) ? 'met' : '**missed**'}`;
    return [[figure, conditions, textOf(measured, unit), limit]];
  });
  const lines = [['figure', 'conditions', 'measured', 'aim'], ['---', '---', '---', '---'], ...cells];
  return [
    `Measured by \`${sections[section]}\`: ${machineText(machine)}.`,
    lines.map((line) => `| ${line.join(' | ')} |`).join('\n'),
    `![All figures as bars, one axis for each unit](${folder}/${section}.svg)`,
  ].join('\n\n');
}

/**
 * Replaces what stands between the two markers of a section, and nothing else.
 *
 * @throws Error where the page does not have both markers
 */
export function replaceSection(page: string, section: Section, text: string): string {
  const [from, to] = [page.indexOf(begin(section)), page.indexOf(end(section))];
  if (from < 0 || to < from) {
    throw new Error(`expected the lines "${begin(section)}" and "${end(section)}" in the page: add them`);
  }
  return `${page.slice(0, from)}${begin(section)}\n\n${text}\n\n${page.slice(to)}`;
}
