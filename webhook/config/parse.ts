import type { ValidateFunction } from 'ajv';
import { type Document, isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { dotted, explain, type Fault } from './explain.ts';

/** At most this many faults are reported at once, so that a wrong file does not fill the screen. */
const mostFaults = 10;

/**
 * Parses and checks a YAML text, fills in the schema's defaults, and returns the value.
 *
 * @param file the name of the text for messages
 * @param validate compiled by ajv with the options `allErrors`, `verbose` and `useDefaults`
 * @param rules checks that a schema cannot express; called only if the text matches the schema
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

/** The document as plain values; it refuses too many aliases, because a small text could expand to a huge value. */
function plainValue(document: Document.Parsed, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new CniGateError('CNI_GATE_CONFIG_SYNTAX', `${file}: not usable YAML: ${messageOf(error)}`);
  }
}

/** ajv reports a wrong property name twice; the second report contains the name. */
function isCause(error: { propertyName?: string }): boolean {
  return error.propertyName === undefined;
}

/** The line of a fault: that of the key, the value, or the nearest existing parent. */
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
