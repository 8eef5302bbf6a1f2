import { styleText } from 'node:util';
import { clean } from '../../clean.ts';
import { profileLabel } from '../../names.ts';
import { nameOf } from '../ask/judge.ts';
import type { Judged, Report } from '../model.ts';
import type { Progress } from '../progress.ts';
import { isUncalled, type Summary } from '../summary.ts';
import { diffsOf } from './changes.ts';

type Style = Parameters<typeof styleText>[0];

/** Paints a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

/** @param color whether to paint at all */
export const painter =
  (color: boolean): Paint =>
  (style, text) =>
    color ? styleText(style, text, { validateStream: false }) : text;

/** Why a pod is left alone, for people; the keys are those of admission. */
const reasons: Record<string, string> = {
  operation: 'nothing is created',
  'mirror-pod': 'stands for a static pod',
  'exempt-namespace': 'its namespace is never touched',
  'host-network': "uses the node's own network",
  windows: 'runs on Windows',
  'network-daemonset': 'brings a network itself',
  'not-opted-in': 'its namespace did not opt in',
  'namespace-not-given': 'its namespace is not in the input',
  'opted-out': 'opted out by its label',
  'nothing-promised': 'no profile promises it anything',
};

const styles: Record<string, Style> = {
  injected: 'green',
  updated: 'green',
  removed: 'yellow',
  warned: 'yellow',
  refused: 'red',
};

/** For people: a header and a unified diff for each workload, then a line of counts. */
export function textOutput(report: Report, summary: Summary, paint: Paint, progress?: Progress): string {
  const lines: string[] = [];
  for (const [document, judged] of Map.groupBy(report.judged, (one) => one.workload.document)) {
    progress?.tell(() => `comparing ${document.file}:${document.line}`);
    const diffs = diffsOf(document, judged);
    for (const one of judged) lines.push(...header(one, paint), ...diff(one, diffs.get(one), paint));
  }
  return [...lines, ...footer(summary, paint)].map((line) => `${line}\n`).join('');
}

function header({ workload, verdict }: Judged, paint: Paint): string[] {
  const { outcome, reason, profiles, message, warnings } = verdict;
  const what = isUncalled(verdict) ? 'not opted in' : outcome;
  const place = `${workload.document.file}:${workload.line}`;
  const why = profiles.join(', ') || message || reasons[reason] || reason;
  const name = paint('bold', clean(nameOf(workload)));
  return [
    `${paint(styles[outcome] ?? 'dim', what)} ${name} (${clean(place)}): ${clean(why)}`,
    ...warnings.map((warning) => `  ${paint('yellow', 'warning')}: ${clean(warning)}`),
  ];
}

/** None for what is left alone: that it was looked at is written on it, and is no news to its author. */
function diff({ workload, verdict }: Judged, lines: string[] | undefined, paint: Paint): string[] {
  if (lines === undefined || verdict.outcome === 'skipped') return [];
  const file = clean(workload.document.file);
  return [
    paint('bold', `--- ${file}`),
    paint('bold', `+++ ${file} as admitted`),
    ...lines.map((line) => {
      const style = { '+': 'green', '-': 'red', '@': 'cyan' }[line.charAt(0)] as Style | undefined;
      return style === undefined ? clean(line) : paint(style, clean(line));
    }),
    '',
  ];
}

function footer(summary: Summary, paint: Paint): string[] {
  const { reviewed, injected, refused, warnings, errors, leftAlone } = summary;
  const alone = Object.entries(leftAlone);
  const told = [
    `${injected} injected`,
    ...some(summary.current, 'up to date'),
    ...some(summary.removed, 'taken out again'),
    ...some(
      sum(leftAlone),
      `left alone (${alone.map(([reason, count]) => `${reason} ${count}`).join(', ')})`,
    ),
    ...some(summary.notOptedIn, 'not opted in'),
    paint(refused > 0 ? 'red' : 'dim', `${refused} refused`),
    ...some(summary.warned, 'let through with a warning'),
    paint(warnings > 0 ? 'yellow' : 'dim', counted(warnings, 'warning')),
    ...(errors > 0 ? [paint('red', `${errors} unreadable`)] : []),
  ].join(', ');
  const others = sum(summary.passedBy);
  const kinds = Object.entries(summary.passedBy).map(([kind, count]) => `${kind} ${count}`);
  const named = others === 0 ? '' : ` (${clean(kinds.join(', '))})`;
  const lines = [
    `reviewed ${counted(reviewed, 'workload')}: ${told}; ${counted(others, 'other object')} passed by${named}`,
  ];
  if (reviewed > 0 && summary.notOptedIn === reviewed) lines.push(hint(summary));
  return lines;
}

/** What to do where no workload's namespace opted in. */
function hint({ reviewed, namespaces, namespaceNotGiven }: Summary): string {
  return namespaces > 0 && namespaceNotGiven === reviewed
    ? 'no workload is in a namespace of the input: objects that name none are in the one that -n gives'
    : `no namespace opted in: add Namespaces with the label ${profileLabel} to the input, or give --profile`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
const some = (count: number, what: string): string[] => (count > 0 ? [`${count} ${what}`] : []);
const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((a, b) => a + b, 0);
