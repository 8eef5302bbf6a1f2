import { nodeAt, parseYaml, writeYaml } from '../../lib/yaml.ts';
import { Lines } from '../input/lines.ts';
import { valueOfDocument } from '../input/locate.ts';
import type { Reviewed, SourceDocument } from '../model.ts';
import { valueAt, wireCopy } from '../values.ts';
import { editsBetween } from './edits.ts';
import { hunksOf } from './hunks.ts';
import { applyTo, editsIn, sourceOf } from './patched.ts';

/**
 * The changes of a document's patches, as lines of a unified diff without its header. For YAML, these are the lines of
 * the file with their numbers; JSON, and a template from an alias, are shown as YAML written from the object.
 */
export function diffsOf(document: SourceDocument, reviewed: readonly Reviewed[]): Map<Reviewed, string[]> {
  const changed = reviewed.filter(({ verdict }) => verdict.operations.length > 0);
  if (changed.length === 0) return new Map();
  const source = document.json ? undefined : sourceOf(document);
  const lines = source && new Lines(source.text, document.start);
  return new Map(
    changed.map((one) => {
      const edits = source && editsIn(source, one);
      return [
        one,
        edits && lines ? hunksOf(source.text, edits, lines) : hunksOfValue(document, one),
      ] as const;
    }),
  );
}

function hunksOfValue(document: SourceDocument, one: Reviewed): string[] {
  const before = wireCopy(valueAt(valueOfDocument(document), one.workload.path));
  const after = structuredClone(before);
  applyTo(after, one);
  const text = writeYaml(before);
  const [parsed] = parseYaml(text);
  const root = nodeAt(parsed?.contents ?? null, []);
  return root === undefined ? [] : hunksOf(text, editsBetween(text, root, before, after), new Lines(text));
}
