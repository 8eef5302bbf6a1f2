import type { Path, SourceDocument } from '../model.ts';
import { YamlError } from '../yaml/tokens.ts';
import { Lines } from './lines.ts';
import { withoutMarker } from './split.ts';
import { offsetNear, parseYaml, readYaml } from './yaml.ts';

/** A text longer than this many characters is not parsed a second time for the number of a line. */
const longest = 1_000_000;

/** The line of what stands at a path of a document, or of the nearest around it; undefined for huge documents. */
export function lineNear(document: SourceDocument, path: Path): number | undefined {
  if (document.text.length > longest) return undefined;
  const text = withoutMarker(document.text);
  return new Lines(text, document.start).at(placeNear(text, path)).line;
}

function placeNear(text: string, path: Path): number {
  try {
    return offsetNear(parseYaml(text), path);
  } catch (error) {
    // JSON knows escapes that YAML does not
    if (error instanceof YamlError) return 0;
    throw error;
  }
}

/** The value of a document: it is read again, because to keep those of all documents would take much memory. */
export function valueOfDocument({ text, json }: SourceDocument): unknown {
  const own = withoutMarker(text);
  return json ? JSON.parse(own) : readYaml(own);
}
