import { isMap, isScalar } from 'yaml';
import { readYaml, type YamlDocument, YamlError } from '../../lib/yaml.ts';
import { type Fault, faultAt, type Path, type SourceDocument } from '../model.ts';
import { inMebi, largestObject } from './limits.ts';
import { isJson, newlines, partsOf, withoutMarker } from './split.ts';

/** A document's value, and its nodes if it is YAML. */
type Parsed = Pick<YamlDocument, 'value' | 'lineOf'> & { source?: YamlDocument['source'] };

/**
 * Reads a stream of YAML documents, or of JSON values with `---`, newlines or nothing between them. Reports what cannot
 * be read, and reads the rest.
 *
 * @param file only for messages
 */
export function* readStream(file: string, text: string): Generator<SourceDocument | Fault, undefined> {
  for (const { between, ...part } of partsOf(text)) {
    const document = { file, ...part, json: isJson(part.text), blank: between };
    const fault = document.blank ? undefined : faultIn(document);
    if (fault !== undefined) yield fault;
    yield fault === undefined ? document : { ...document, blank: true };
  }
}

function faultIn(document: SourceDocument): Fault | undefined {
  const { file, start, text, json } = document;
  if (!json && text.length > largestObject) {
    const line = firstLine(withoutMarker(text), start);
    const message = `a document or an item of a List has ${inMebi(text.length)}; review accepts ${inMebi(largestObject)}, and larger Lists only as kubectl prints them: split it`;
    return faultAt({ file, line }, 'CNI_GATE_INPUT_TOO_LARGE', message);
  }
  try {
    parsed(document);
    return undefined;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    // an error at the end is after the newline that was added
    const line = Math.min(start + error.line - 1, start + newlines(text));
    const place = { file, line, column: error.column };
    if (error.tooLarge) return faultAt(place, 'CNI_GATE_INPUT_TOO_LARGE', error.message);
    const isTemplate = /^[^#\n]*(?:\{\{|\{%)/m.test(text);
    const message = `neither YAML nor JSON: ${error.message}${isTemplate ? renderFirst : ''}`;
    return faultAt(place, 'CNI_GATE_INPUT_SYNTAX', message);
  }
}

const renderFirst =
  '; if it is a template, render it first, for example with helm template my-chart; if {{ is text, put it in quotes';

/** Two equal keys at the top level: two manifests without `---` between them. Deeper ones are left to the API server. */
export function repeatedKey(document: SourceDocument): Fault | undefined {
  const { source, lineOf: line } = parsed(document);
  const keys = isMap(source?.contents) ? source.contents.items.map(({ key }) => key) : [];
  const names = keys.filter((key) => isScalar(key)).map((key) => String(key.value));
  const seen = new Set<string>();
  const repeated = names.find((name) => name !== '<<' && seen.size === seen.add(name).size);
  if (repeated === undefined) return undefined;
  const message = `the key "${repeated}" occurs twice: is a "---" missing before it?`;
  return faultAt({ file: document.file, line: line([repeated]) }, 'CNI_GATE_INPUT_SYNTAX', message);
}

let last: { document: SourceDocument; parsed: Parsed } | undefined;

/**
 * The value of a document. Only that of the last document is kept, because values use several times the memory of their
 * text; it must not be changed.
 *
 * @throws YamlError
 */
export function parsed(document: SourceDocument): Parsed {
  if (last?.document !== document) {
    last = undefined;
    last = { document, parsed: parse(document) };
  }
  return last.parsed;
}

function parse({ text: own, start, json }: SourceDocument): Parsed {
  const text = withoutMarker(own);
  // all of a JSON value counts as its first line
  if (json) return { value: JSON.parse(text), lineOf: () => firstLine(text, start) };
  // a missing last newline is added, as kubectl does
  const [document] = readYaml(text.endsWith('\n') ? text : `${text}\n`);
  if (document === undefined) return { value: null, lineOf: () => start };
  const { source, value, lineOf } = document;
  return { source, value, lineOf: (path) => start + lineOf(path) - 1 };
}

const firstLine = (text: string, start: number): number => start + newlines(text.slice(0, text.search(/\S/)));

/** The line of the value at a path of a document that was read, or of the nearest parent. */
export const lineOf = (document: SourceDocument, path: Path): number => parsed(document).lineOf(path);
