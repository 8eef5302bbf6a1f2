import { Scanner } from '../yaml/scanner.ts';
import { YamlError } from '../yaml/tokens.ts';

/** Where an action of a template begins: of Go templates and Helm, of Jinja. */
const action = /\{\{|\{%/;

/**
 * The offset of the first action of a template that has not been rendered, or undefined for a text that is none.
 * What stands in quotes, block scalars and comments is data: workflows and alerts have templates of their own there.
 * Outside of them no manifest can hold an action, because `{{` would be a map for a key and `{%` begins nothing.
 *
 * @param text which is not YAML
 */
export function unrendered(text: string): number | undefined {
  let inText: number | undefined;
  let scanner: Scanner | undefined;
  try {
    scanner = new Scanner(text);
    for (let token = scanner.next(); token.kind !== 'end'; token = scanner.next()) {
      // one in a plain scalar may be meant so; it tells where to look once there is another that cannot be
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
