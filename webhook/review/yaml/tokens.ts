/** The tokens of a YAML text. Offsets are those of the text. */
export interface Token {
  kind: TokenKind;
  start: number;
  end: number;
  /** The text of a scalar; the name of an anchor, alias or directive; the handle of a tag. */
  value: string;
  /** The suffix of a tag, or the text after a directive's name. */
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

/** The style of a scalar; `empty` means that it is not written, as after `key:`. */
export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal' | 'folded' | 'empty';

/** A text that is not YAML as Kubernetes reads it. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  /** Its offset in the text. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** A text that is YAML and exceeds a limit. */
export class YamlTooLarge extends YamlError {}
