import { isDeepStrictEqual as same } from 'node:util';
import type { YAMLSeq } from 'yaml';
import { type Inside, written } from './block-map.ts';
import { arrange, movesAbout } from './items.ts';
import { CannotEdit, type Edit, endOf, type Source } from './source.ts';

/** Edits that make a block sequence, not empty before or after, what it should be. Comments go with their items. */
export function blockSeqEdits(
  source: Source,
  seq: YAMLSeq,
  before: unknown[],
  after: unknown[],
  inside: Inside,
): Edit[] {
  const dashes = dashesOf(seq);
  if (dashes.length !== before.length || !dashes.every((dash) => source.isFirstInLine(dash))) {
    throw new CannotEdit('items do not have lines of their own');
  }
  const pad = ' '.repeat(source.column(dashes[0] ?? 0));
  const write = (value: unknown): string => written(source, [value], pad).join(source.eol) + source.eol;
  const starts = dashes.map((dash, index) => chunkStart(source, seq, dash, index));
  starts.push(source.afterLine(endOf(seq)));
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

/** The offsets of the dashes. */
function dashesOf(seq: YAMLSeq): number[] {
  const token = seq.srcToken;
  if (token?.type !== 'block-seq') throw new CannotEdit('not a block sequence');
  return token.items.flatMap((item) => item.start.find((mark) => mark.type === 'seq-item-ind')?.offset ?? []);
}

/** Where an item's text begins: comments right above it belong to it. */
function chunkStart(source: Source, seq: YAMLSeq, dash: number, index: number): number {
  const bound = index === 0 ? 0 : source.afterLine(endOf(seq.items[index - 1]));
  let start = source.lineStart(dash);
  while (start > bound) {
    const above = source.lineStart(start - 1);
    if (above < bound || !source.text.slice(above, start).trimStart().startsWith('#')) break;
    start = above;
  }
  return start;
}
