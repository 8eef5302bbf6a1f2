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

/** The error code that a text ends with: whoever reads the rest only in part searches for that. */
const lastCode = / \(CNI_GATE_[A-Z_]+\)$/;

/** One line of at most {@link longest} characters, whole code points only. A code at its end is kept. */
function fit(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ').trim();
  const points = [...line];
  if (points.length <= longest) return line;
  const [code = ''] = lastCode.exec(line) ?? [];
  return `${points.slice(0, longest - 1 - code.length).join('')}…${code}`;
}
