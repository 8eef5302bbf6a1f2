/** What a YAML text is made of, as the scanner tells it. Offsets are those of the text. */
export interface Token {
  kind: TokenKind;
  start: number;
  end: number;
  /** The text of a scalar; the name of an anchor, alias or directive; the handle of a tag. */
  value: string;
  /** What follows the handle of a tag, or a directive's name. */
  rest: string;
  style: ScalarStyle;
}

/** What a token stands for. */
export type TokenKind =
  | 'end'
  | 'directive'
  | 'document-start'
  | 'document-end'
  | 'block-map'
  | 'block-seq'
  | 'block-end'
  | 'flow-map'
  | 'flow-map-end'
  | 'flow-seq'
  | 'flow-seq-end'
  | 'flow-entry'
  | 'block-entry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar';

/** How a scalar is written; `empty` is one that is not written at all, as behind `key:`. */
export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal' | 'folded' | 'empty';

/** A text that is not YAML as Kubernetes reads it. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  /** Where in the text. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** A text that is YAML, and beyond what is taken of it. */
export class YamlTooLarge extends YamlError {}
