import type { ScalarStyle } from './tokens.ts';

/** The nodes of a document, with their positions in its text. */
export type YamlNode = ScalarNode | MapNode | SeqNode | AliasNode;

interface Placed {
  /** Its beginning, after anchor and tag. */
  start: number;
  /** The offset after its last character; the end of a block scalar is the beginning of a line. */
  end: number;
  anchor: string | undefined;
  tag: string | undefined;
}

/** A scalar. */
export interface ScalarNode extends Placed {
  kind: 'scalar';
  value: string;
  style: ScalarStyle;
}

/** A mapping. */
export interface MapNode extends Placed {
  kind: 'map';
  /** Whether it is in braces. */
  flow: boolean;
  pairs: YamlPair[];
}

/** A key of a mapping with its value. */
export interface YamlPair {
  key: YamlNode;
  /** The offset after the colon; undefined if there is none. */
  colon: number | undefined;
  value: YamlNode;
}

/** A sequence. */
export interface SeqNode extends Placed {
  kind: 'seq';
  /** Whether it is in brackets. */
  flow: boolean;
  items: YamlNode[];
  /** The offsets of the dashes of a block list. */
  dashes: number[];
}

/** An alias, with the node that its anchor names. */
export interface AliasNode extends Placed {
  kind: 'alias';
  name: string;
  target: YamlNode;
}

const mergeTag = 'tag:yaml.org,2002:merge';

/** Whether a key is the merge key: `<<` without quotes, or tagged as one. */
export function isMergeKey(key: YamlNode): boolean {
  if (key.kind !== 'scalar' || key.value !== '<<') return false;
  return (key.tag === undefined && key.style === 'plain') || key.tag === '!' || key.tag === mergeTag;
}
