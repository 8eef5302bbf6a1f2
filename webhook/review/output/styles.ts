import type { styleText } from 'node:util';
import type { Outcome } from '../../inject/decide.ts';

/** A style or a color of a terminal. */
export type Style = Parameters<typeof styleText>[0];

/** How each outcome looks on a terminal. */
export const styles: Record<Outcome, Style> = {
  injected: 'green',
  updated: 'green',
  current: 'dim',
  removed: 'yellow',
  skipped: 'dim',
  warned: 'yellow',
  refused: 'red',
};
