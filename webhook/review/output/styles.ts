import type { styleText } from 'node:util';
import type { Outcome } from '../../inject/decide.ts';

export type Style = Parameters<typeof styleText>[0];

export const styles: Record<Outcome, Style> = {
  injected: 'green',
  updated: 'green',
  current: 'dim',
  removed: 'yellow',
  skipped: 'dim',
  warned: 'yellow',
  refused: 'red',
};
