import { Scanner } from '../yaml/scanner.ts';
import { YamlError } from '../yaml/tokens.ts';

/** The beginning of an action in Go templates, Helm and Jinja. */
const action = /\{\{|\{%/;

/**
 * The offset of the first action of an unrendered template, or undefined for any other text. Quotes, block scalars and
 * comments are data, because workflows and alerts contain templates there. Elsewhere, no manifest can contain an
 * action, because `{{` would be a map as a key and `{%` begins nothing.
 *
 * @param text a text that is not YAML
 */
export function unrendered(text: string): number | undefined {
  let inText: number | undefined;
  let scanner: Scanner | undefined;
  try {
    scanner = new Scanner(text);
    for (let token = scanner.next(); token.kind !== 'end'; token = scanner.next()) {
      // an action in a plain scalar may be intended; it counts once another action cannot be
      if (token.kind !== 'scalar' || token.style !== 'plain' || inText !== undefined) continue;
      const at = text.slice(token.start, token.end).search(action);
      if (at >= 0) inText = token.start + at;
    }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
  }
  const first = scanner?.doubleBrace;
  return first === undefined ? undefined : Math.min(first, inText ?? first);
}
