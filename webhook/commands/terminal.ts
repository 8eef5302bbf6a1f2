import { styleText } from 'node:util';
import type { TextOptions } from '../report/text/table.ts';

/**
 * How text is to look on standard output: as wide as COLUMNS or the terminal says, and in colour where it has colours.
 * `styleText` looks at the stream, NO_COLOR, NODE_DISABLE_COLORS and FORCE_COLOR.
 */
export function terminal(): TextOptions {
  const { stdout, env } = process;
  // some terminals do not tell how wide they are, and read as 0
  const width = Number(env.COLUMNS) || (stdout.isTTY ? stdout.columns : 0);
  return {
    ...(width > 0 && { width }),
    paint: (style, text) => styleText(style, text, { stream: stdout }),
  };
}
