import type { ValidateFunction } from 'ajv';
import { type Document, isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { dotted, explain, type Fault } from './explain.ts';

/** At most this many faults are told at once; a wholly wrong file would otherwise fill the screen. */
const mostFaults = 10;

/**
 * Parses and checks a YAML text, fills in the schema's defaults, and returns the value.
 *
 * @param file only for messages: the name that the reader knows the text by
 * @param validate made by ajv with the options `allErrors`, `verbose` and `useDefaults`
 * @param rules what a schema cannot say; called only when the schema holds
 * @throws CniGateError CNI_GATE_CONFIG_SYNTAX or CNI_GATE_CONFIG_INVALID, with file, line, path and what is allowed
 */
export function parseChecked<T>(
  text: string,
  file: string,
  validate: ValidateFunction<T>,
  rules: (value: T) => Fault[],
): T {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const syntax = document.errors[0];
  if (syntax !== undefined) {
    const { line, col } = lines.linePos(syntax.pos[0]);
    throw new CniGateError('CNI_GATE_CONFIG_SYNTAX', `${file}:${line}:${col}: not YAML: ${syntax.message}`);
  }
  const value = plainValue(document, file);
  const faults = validate(value)
    ? rules(value)
    : (validate.errors ?? []).filter(isCause).map((error) => explain(error));
  if (faults.length > 0) {
    const reported = faults.slice(0, mostFaults).map((fault) => {
      const line = lineOf(fault, document.contents, lines);
      return `${file}:${line}: ${dotted(fault.path) || 'the document'}: ${fault.text}`;
    });
    const more = faults.length - reported.length;
    throw new CniGateError(
      'CNI_GATE_CONFIG_INVALID',
      reported.join('\n') + (more > 0 ? `\nand ${more} more` : ''),
    );
  }
  return value as T;
}

/** The document as plain values; too many aliases are refused, as a small text could stand for a huge value. */
function plainValue(document: Document.Parsed, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new CniGateError('CNI_GATE_CONFIG_SYNTAX', `${file}: not usable YAML: ${messageOf(error)}`);
  }
}

/** ajv tells a wrong property name twice, the pattern first: the second is the one with the name in it. */
function isCause(error: { propertyName?: string }): boolean {
  return error.propertyName === undefined;
}

/** The line that a fault stands in: the key's, the value's, or the nearest parent's that exists. */
function lineOf(fault: Fault, root: Node | null, lines: LineCounter): number {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const [index, part] of fault.path.entries()) {
    const last = index === fault.path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(part));
      const place = last || !isNode(pair?.value) ? pair?.key : pair.value;
      if (isNode(place)) offset = place.range?.[0] ?? offset;
      node = pair?.value;
    } else if (typeof node === 'object' && node !== null && 'items' in node && Array.isArray(node.items)) {
      node = node.items[Number(part)];
      if (isNode(node)) offset = node.range?.[0] ?? offset;
    }
  }
  return lines.linePos(offset).line;
}
