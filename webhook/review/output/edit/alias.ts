import { isDeepStrictEqual as same } from 'node:util';
import { parseYaml } from '../../input/yaml.ts';
import { wireCopy } from '../../values.ts';
import type { AliasNode, YamlNode } from '../../yaml/nodes.ts';
import { YamlError } from '../../yaml/tokens.ts';
import { jsonValue } from '../../yaml/value.ts';
import { applyEdits, CannotEdit, type Edit, Source } from './source.ts';

/** Edits for the whole of a document. */
export type EditAll = (source: Source, before: unknown, after: unknown) => Edit[];

/**
 * What an alias stands for, copied from where it is written and changed, so that the other users of the anchor
 * keep what they have.
 *
 * @param pad the indentation of the key that has the alias for its value
 * @returns text to put behind the key's colon
 * @throws CannotEdit where the text at the anchor does not stand on its own
 */
export function writtenOut(
  source: Source,
  alias: AliasNode,
  before: unknown,
  after: unknown,
  pad: string,
  editAll: EditAll,
): string {
  const { target } = alias;
  if ((target.kind !== 'map' && target.kind !== 'seq') || target.start === target.end)
    throw new CannotEdit('no collection has the anchor');
  const { start, end } = target;
  if (target.flow) return ` ${changed(source.text.slice(start, end), before, after, editAll)}`;
  if (!source.isFirstInLine(start)) throw new CannotEdit('the anchor shares its line');
  const lines = source.text.slice(source.lineStart(start), source.lineEnd(end - 1)).split(/\r?\n/);
  const text = lines.map((line) => withoutIndent(line, source.column(start))).join('\n');
  const indent = target.kind === 'seq' && !source.indentSeq ? pad : `${pad}  `;
  const result = changed(text, before, after, editAll).split('\n');
  return ['', ...result.map((line) => (line === '' ? line : indent + line))].join(source.eol);
}

/** Block text is moved as a whole, so that what it says stays; comments may stand further to the left. */
function withoutIndent(line: string, columns: number): string {
  const head = line.slice(0, columns);
  if (head.trim() === '') return line.slice(columns);
  if (head.trimStart().startsWith('#')) return line.trimStart();
  throw new CannotEdit('the text at the anchor is not indented as a whole');
}

function changed(text: string, before: unknown, after: unknown, editAll: EditAll): string {
  const root = rootOf(text);
  if (root === undefined || !same(wireCopy(jsonValue(root)), before)) {
    throw new CannotEdit('the text at the anchor does not stand on its own');
  }
  const source = new Source(`${text}\n`, root);
  return applyEdits(source.text, editAll(source, before, after)).replace(/\n$/, '');
}

/** The text at an anchor, unless aliases in it stand for what is not in it. */
function rootOf(text: string): YamlNode | undefined {
  try {
    return parseYaml(text);
  } catch (error) {
    if (error instanceof YamlError) return undefined;
    throw error;
  }
}
