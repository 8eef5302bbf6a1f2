import type { Node } from 'yaml';
import { offsetNear, parseYaml, valueOfYaml, YamlError } from '../../lib/yaml.ts';
import type { Finding, Path, SourceDocument } from '../model.ts';
import { Lines, withoutMarker } from './split.ts';

/** A text longer than this many characters is not parsed again for a line number. */
const longest = 1_000_000;

/** The line of the value at a path of a document, or of the nearest parent; undefined for huge documents. */
export function lineNear(document: SourceDocument, path: Path): number | undefined {
  return linesIn(document)(path);
}

function linesIn({ text: own, start }: SourceDocument): (path: Path) => number | undefined {
  if (own.length > longest) return () => undefined;
  const text = withoutMarker(own);
  const lines = new Lines(text, start);
  try {
    const { root } = parseManifest(text);
    return (path) => lines.at(offsetNear(root, path)).line;
  } catch (error) {
    // JSON allows layouts that YAML does not, such as a colon on its own line
    if (error instanceof YamlError) return () => undefined;
    throw error;
  }
}

/** Findings with the line of the value that each is about. A document is parsed once for all its findings. */
export function withLines<T extends Pick<Finding, 'at' | 'line'>>(findings: readonly T[]): Omit<T, 'at'>[] {
  const lines = new Map<SourceDocument, (path: Path) => number | undefined>();
  return findings.map(({ at, ...finding }) => {
    if (at === undefined) return finding;
    const { document, path } = at;
    const lineOf = lines.get(document) ?? linesIn(document);
    lines.set(document, lineOf);
    const line = lineOf(path);
    return line === undefined ? finding : { ...finding, line };
  });
}

/** The value of a document. It is parsed again, because keeping all values would use much memory. */
export function valueOfDocument({ text, json }: SourceDocument): unknown {
  const own = withoutMarker(text);
  return json ? JSON.parse(own) : parseManifest(own).value;
}

/** A document's value, and its nodes with their positions. */
export interface Manifest {
  /** Null if the document is empty. */
  root: Node | null;
  value: unknown;
}

/**
 * Parses the text of one document. A missing last newline is added, as kubectl does.
 *
 * @throws YamlError
 */
export function parseManifest(text: string): Manifest {
  const [document] = parseYaml(text.endsWith('\n') ? text : `${text}\n`);
  return document === undefined
    ? { root: null, value: null }
    : { root: document.contents, value: valueOfYaml(document) };
}
