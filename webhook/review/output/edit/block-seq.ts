import { isDeepStrictEqual as same } from 'node:util';
import type { SeqNode } from '../../yaml/nodes.ts';
import { type Inside, written } from './block-map.ts';
import { arrange, movesAbout } from './items.ts';
import { CannotEdit, type Edit, endOf, type Source } from './source.ts';

/** Edits that change a block sequence that is not empty before or after. Comments stay with their items. */
export function blockSeqEdits(
  source: Source,
  seq: SeqNode,
  before: unknown[],
  after: unknown[],
  inside: Inside,
): Edit[] {
  const { dashes } = seq;
  if (dashes.length !== before.length || !dashes.every((dash) => source.isFirstInLine(dash))) {
    throw new CannotEdit('items do not have lines of their own');
  }
  const pad = ' '.repeat(source.column(dashes[0] ?? 0));
  const write = (value: unknown): string => written(source, [value], pad).join(source.eol) + source.eol;
  const starts = dashes.map((dash, index) => chunkStart(source, seq, dash, index));
  starts.push(source.behindComments(source.afterLine(seq.end), pad.length));
  const chunk = (index: number): Edit => {
    const [start = 0, end = 0] = starts.slice(index, index + 2);
    return { start, end, text: source.text.slice(start, end) };
  };
  if (!movesAbout(before, after)) {
    return seq.items.flatMap((item, index) => {
      if (same(before[index], after[index])) return [];
      return (
        inside.edits(item, before[index], after[index]) ?? [{ ...chunk(index), text: write(after[index]) }]
      );
    });
  }
  const chunks = before.map((_, index) => chunk(index));
  const texts = arrange(
    before,
    after,
    chunks.map((one) => one.text),
    write,
  );
  return [{ start: starts[0] ?? 0, end: starts.at(-1) ?? 0, text: texts.join('') }];
}

/**
 * The beginning of an item's text. Comments directly above belong to it, unless they are indented like the previous
 * item.
 */
function chunkStart(source: Source, seq: SeqNode, dash: number, index: number): number {
  const bound = index === 0 ? 0 : source.afterLine(endOf(seq.items[index - 1]));
  return source.commentsAbove(dash, bound, source.column(dash));
}
