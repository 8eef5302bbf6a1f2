import { isDeepStrictEqual as same } from 'node:util';
import { isObject } from '../../values.ts';
import type { YamlNode } from '../../yaml/nodes.ts';
import { writtenOut } from './alias.ts';
import { blockMapEdits, type Inside } from './block-map.ts';
import { blockSeqEdits } from './block-seq.ts';
import { flowMapEdits, flowSeqEdits } from './flow.ts';
import { CannotEdit, type Edit, type Source } from './source.ts';

/**
 * Returns the edits that turn a value of a document into another, and leave everything else unchanged. It does not
 * follow aliases of the edited text or merges: the caller must parse the result and compare.
 *
 * @throws CannotEdit for layouts that cannot be edited
 */
export function valueEdits(source: Source, node: YamlNode, before: unknown, after: unknown): Edit[] {
  const edits = editsInside(source, node, before, after);
  if (edits === undefined) throw new CannotEdit('the whole value is another');
  return edits;
}

/** Undefined if the whole value must be rewritten, which its parent does. */
function editsInside(source: Source, node: YamlNode, before: unknown, after: unknown): Edit[] | undefined {
  if (same(before, after)) return [];
  if (node.kind === 'alias') throw new CannotEdit('what an alias stands for is written elsewhere');
  const inside: Inside = {
    edits: (inner, from, to) => editsInside(source, inner, from, to),
    writtenOut: (alias, from, to, pad) => writtenOut(source, alias, from, to, pad, rootEdits),
  };
  if (
    node.kind === 'map' &&
    isObject(before) &&
    isObject(after) &&
    node.pairs.length > 0 &&
    Object.keys(after).length > 0
  ) {
    return (node.flow ? flowMapEdits : blockMapEdits)(source, node, before, after, inside);
  }
  if (
    node.kind === 'seq' &&
    Array.isArray(before) &&
    Array.isArray(after) &&
    before.length > 0 &&
    after.length > 0
  ) {
    return (node.flow ? flowSeqEdits : blockSeqEdits)(source, node, before, after, inside);
  }
  return undefined;
}

const rootEdits = (source: Source, before: unknown, after: unknown): Edit[] =>
  valueEdits(source, source.root, before, after);
