import type { State } from '../readiness/state.ts';
import type { Emphasis } from './table.ts';

/** What a text may be set off by: names that `styleText` of node:util knows. */
export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green';

/** Sets a text off; returns it as it is where there are no colours. */
export type Paint = (style: Style, text: string) => string;

const ofStates: Record<State, Style> = {
  ready: 'green',
  exempt: 'dim',
  starting: 'yellow',
  broken: 'red',
  absent: 'red',
  rebooted: 'yellow',
  failing: 'red',
  unproved: 'yellow',
};

/** Columns of counts, and what more than none in them is. */
const ofCounts: Record<string, Style> = {
  STARTING: 'yellow',
  BROKEN: 'red',
  ABSENT: 'red',
  REBOOTED: 'yellow',
  FAILING: 'red',
  FAILED: 'red',
  UNPROVED: 'red',
};

/** Which cells of the tables of status are set off, and how. */
export const emphasisBy =
  (paint: Paint): Emphasis =>
  (text, column) => {
    const style = styleOf(text, column);
    return style === undefined ? text : paint(style, text);
  };

function styleOf(text: string, column: string): Style | undefined {
  if (text === column) return 'bold';
  if (column === 'FAULT' || column === 'VERDICT') return 'red';
  if (column === 'STATE') return Object.entries(ofStates).find(([state]) => state === text)?.[1];
  if (column === 'IN FORCE' || column === 'IN ORDER') return ofAnswers[text];
  return Number(text) > 0 ? ofCounts[column] : undefined;
}

const ofAnswers: Record<string, Style> = { yes: 'green', no: 'red', 'not known': 'yellow' };
