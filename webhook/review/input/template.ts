import { Scanner } from '../yaml/scanner.ts';
import { type Token, YamlError } from '../yaml/tokens.ts';

/** Where a template's action begins: of Go templates and Helm, of Jinja. */
const action = /\{\{|\{%/;

/**
 * The offset of the first action of a template that has not been rendered, or undefined for a text that is none.
 * What stands in quotes, block scalars and comments is data: workflows and alerts have templates of their own there.
 * Outside of them no manifest can hold an action, because `{{` would be a map for a key and `{%` begins nothing.
 */
export function unrendered(text: string): number | undefined {
  let first: number | undefined;
  for (const token of tokensOf(text)) {
    if (token.kind === 'flow-map' && action.test(text.slice(token.start, token.start + 2))) {
      return first ?? token.start;
    }
    // one in a plain scalar may be meant so; it tells where to look once there is another that cannot be
    if (token.kind === 'scalar' && token.style === 'plain' && first === undefined) {
      const at = text.slice(token.start, token.end).search(action);
      if (at >= 0) first = token.start + at;
    }
  }
  return undefined;
}

/** The tokens of a text as far as it can be read. */
function* tokensOf(text: string): Generator<Token, undefined> {
  try {
    const scanner = new Scanner(text);
    for (;;) {
      const token = scanner.next();
      yield token;
      if (token.kind === 'end') return;
    }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
  }
}
