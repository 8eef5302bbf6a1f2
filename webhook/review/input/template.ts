import { Lexer } from 'yaml';

/** The beginning of an action in Go templates, Helm and Jinja. */
const action = /\{\{|\{%/;

/** Lexemes that are not text: the one before a scalar without quotes, and the beginning and the end of others. */
const scalarMark = '\u001f';
const marks = new Set([scalarMark, '\u0002', '\u0018']);

/**
 * The offset of the first action of an unrendered template, or undefined for any other text. Quotes, block scalars and
 * comments are data, because workflows and alerts contain templates there. Elsewhere, no manifest can contain an
 * action, because `{{` would be a map as a key and `{%` begins nothing.
 *
 * @param text a text that is not YAML
 */
export function unrendered(text: string): number | undefined {
  let inText: number | undefined;
  let block = false;
  let before = '';
  let at = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (!marks.has(lexeme)) {
      if (before.endsWith('{') && /^[{%]/.test(lexeme)) return Math.min(at - 1, inText ?? at);
      if (/^[|>]/.test(lexeme)) block = true;
      // an action in a plain scalar may be intended; it counts once another action cannot be
      const inside = before === scalarMark && !block ? lexeme.search(action) : -1;
      if (inside >= 0) inText ??= at + inside;
      if (before === scalarMark) block = false;
      at += lexeme.length;
    }
    before = before.endsWith('{') && lexeme === scalarMark ? `{` : lexeme;
  }
  return undefined;
}
