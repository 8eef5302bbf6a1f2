import type { Path, SourceDocument } from '../model.ts';
import { Lines } from './lines.ts';
import { withoutMarker } from './split.ts';
import { offsetNear, parseYaml } from './yaml.ts';

/** A text longer than this many characters is not parsed a second time for the number of a line. */
const longest = 1_000_000;

/** The line of what stands at a path of a document, or of the nearest around it; undefined for huge documents. */
export function lineNear(document: SourceDocument, path: Path): number | undefined {
  if (document.text.length > longest) return undefined;
  const text = withoutMarker(document.text);
  return new Lines(text, document.start).at(offsetNear(parseYaml(text).contents, path)).line;
}
