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
 * A changed copy of the value of an alias, so that other users of the anchor keep theirs.
 *
 * @param pad the indentation of the key whose value is the alias
 * @returns text to put after the key's colon
 * @throws CannotEdit if the text at the anchor depends on text elsewhere
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

/** Block text is moved as a whole, so that its value does not change; comments may be indented less. */
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

/** The text at an anchor, unless it contains aliases of text elsewhere. */
function rootOf(text: string): YamlNode | undefined {
  try {
    return parseYaml(text);
  } catch (error) {
    if (error instanceof YamlError) return undefined;
    throw error;
  }
}
