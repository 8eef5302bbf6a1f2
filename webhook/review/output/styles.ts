import { styleText } from 'node:util';
import type { Outcome } from '../../admission/mutate/decide.ts';

/** Cuts a text that is longer than a width in characters. */
export const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, width - 1)}…`;

/** A style or a color of a terminal. */
export type Style = Parameters<typeof styleText>[0];

/** Colours a text, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

/** @param color whether to use colours */
export const painter =
  (color: boolean): Paint =>
  (style, text) =>
    color ? styleText(style, text, { validateStream: false }) : text;

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
