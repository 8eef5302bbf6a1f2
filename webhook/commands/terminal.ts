import { styleText } from 'node:util';
import type { TextOptions } from '../status/text.ts';

/**
 * How text is to look on standard output: as wide as the terminal, and in colour where it has colours. `styleText`
 * looks at the stream, NO_COLOR, NODE_DISABLE_COLORS and FORCE_COLOR.
 */
export function terminal(): TextOptions {
  const { stdout } = process;
  return {
    // some terminals do not tell how wide they are, and read as 0
    ...(stdout.isTTY && stdout.columns > 0 && { width: stdout.columns }),
    paint: (style, text) => styleText(style, text, { stream: stdout }),
  };
}
