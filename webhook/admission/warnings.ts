import { fitText } from '../../validator/shared/fit-text.ts';
import { clean } from '../lib/clean.ts';

/**
 * The API server takes any number of warnings, but cuts each at 256 characters once all together pass 4,096
 * (apimachinery `pkg/util/net`, apiserver `pkg/endpoints/filters/warning.go`), and clients expect about 120.
 */
const longest = 120;
const longestTotal = 4096;

/** Warnings that the API server passes on whole: one line each, and a last one that counts those left out. */
export function fitWarnings(warnings: readonly string[]): string[] {
  const fitted: string[] = [];
  let total = 0;
  const unique = [...new Set(warnings.map(fit))];
  for (const [index, text] of unique.entries()) {
    // the line that counts the rest needs room as well
    if (total + Buffer.byteLength(text) > longestTotal - longest) {
      fitted.push(`and ${unique.length - index} more warnings`);
      break;
    }
    total += Buffer.byteLength(text);
    fitted.push(text);
  }
  return fitted;
}

/** One line of at most {@link longest} characters. */
function fit(text: string): string {
  // blanks become one, so more is looked at than is sent
  const head = text.slice(0, 32 * longest);
  const line = clean(head.replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')).trim();
  return fitText(head.length < text.length ? `${line} …` : line, longest);
}
