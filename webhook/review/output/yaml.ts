import type { Node } from 'yaml';
import { expandAliases, layoutOf, readYaml, writeYaml } from '../../lib/yaml.ts';
import { parsed } from '../input/documents.ts';
import { withoutMarker } from '../input/split.ts';
import type { Report, Reviewed, SourceDocument } from '../model.ts';
import { patched, relocate } from '../values.ts';
import { Splice } from './splice.ts';

/**
 * The YAML output: the input with the patches applied. It has all documents in their order, including ignored and
 * unreadable ones, and nothing else is changed. Where a file ends without a newline, so does its text: some readers would
 * read another value from a block scalar there. Only before a marker it gets one.
 */
export function* yamlOutput(report: Report): Generator<string> {
  const byDocument = Map.groupBy(report.reviewed, (entry) => entry.workload.document);
  let before = '';
  for (const document of report.documents) {
    const text = patchedText(document, byDocument.get(document) ?? []);
    // parts of a List continue each other; the first document of a file and consecutive JSON values have no marker
    if (before !== '' && !document.continues) {
      if (!before.endsWith('\n')) yield '\n';
      if (!/^(?:---|\.\.\.)(?=\s|$)/.test(text)) yield '---\n';
    }
    yield text;
    before = text;
  }
}

/** A document to be patched. */
interface Patchable {
  value: unknown;
  /** What writes it with another value; absent for JSON. */
  yaml?: { root: Node; splice: Splice };
}

/** A document of which no value is shared: where it has aliases, they are copies of what they stand for. */
export function patchable(document: SourceDocument): Patchable {
  if (document.json) return { value: parsed(document).value };
  const text = document.text.endsWith('\n') ? document.text : `${document.text}\n`;
  const [read] = readYaml(withoutMarker(text));
  if (read === undefined) return { value: null };
  const { source, value, shares } = read;
  const root = source.contents as Node;
  if (!shares && !hasMergeKeys.test(text)) return { value, yaml: { root, splice: new Splice(text) } };
  expandAliases(source);
  const written = markerOf(text) + writeYaml(source, layoutOf(text));
  const expanded = text.includes('\r\n') ? written.replaceAll('\n', '\r\n') : written;
  return patchable({ ...document, text: expanded });
}

const hasMergeKeys = /^[^#\n]*<<[ \t]*:/m;

const markerOf = (text: string): string => (text.startsWith('---') ? '---\n' : '');

/**
 * The text of a document with the patches of its workloads: the text itself if there are none. Comments and the spelling
 * of values stay.
 */
function patchedText(document: SourceDocument, reviewed: readonly Reviewed[]): string {
  const own = document.text;
  const operations = reviewed.flatMap(({ workload, decision }) =>
    relocate(decision.operations, workload.path),
  );
  if (operations.length === 0) return own;
  const { value, yaml } = patchable(document);
  const after = patched(value, operations);
  const indent = /^\s*[{[]\r?\n([ \t]+)/.exec(withoutMarker(own))?.[1];
  const text = yaml
    ? yaml.splice.document(yaml.root, value, after)
    : `${markerOf(own)}${JSON.stringify(after, null, indent)}\n`;
  return own.endsWith('\n') ? text : text.replace(/\r?\n$/, '');
}
