import { isDeepStrictEqual as same } from 'node:util';
import { isObject } from '../../values.ts';
import type { YamlNode } from '../../yaml/nodes.ts';
import { writtenOut } from './alias.ts';
import { blockMapEdits, type Inside } from './block-map.ts';
import { blockSeqEdits } from './block-seq.ts';
import { flowMapEdits, flowSeqEdits } from './flow.ts';
import { CannotEdit, type Edit, type Source } from './source.ts';

/**
 * The edits that turn a value of a document into another, and leave everything else as it was written. Nothing is
 * known here of aliases to what is edited, nor of what a merge brings: whoever uses the result has to read it again
 * and compare.
 *
 * @throws CannotEdit for layouts that only a parser can love
 */
export function valueEdits(source: Source, node: YamlNode, before: unknown, after: unknown): Edit[] {
  const edits = editsInside(source, node, before, after);
  if (edits === undefined) throw new CannotEdit('the whole value is another');
  return edits;
}

/** Undefined where the value as a whole has to be written anew, which is for whatever holds it to do. */
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
