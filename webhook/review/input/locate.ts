import type { Path, SourceDocument } from '../model.ts';
import { YamlError } from '../yaml/tokens.ts';
import { Lines } from './lines.ts';
import { withoutMarker } from './split.ts';
import { offsetNear, parseYaml, readYaml } from './yaml.ts';

/** A text longer than this many characters is not parsed again for a line number. */
const longest = 1_000_000;

/** The line of the value at a path of a document, or of the nearest parent; undefined for huge documents. */
export function lineNear(document: SourceDocument, path: Path): number | undefined {
  if (document.text.length > longest) return undefined;
  const text = withoutMarker(document.text);
  return new Lines(text, document.start).at(placeNear(text, path, document.json)).line;
}

function placeNear(text: string, path: Path, json: boolean): number {
  try {
    return offsetNear(parseYaml(text, json), path);
  } catch (error) {
    // JSON allows layouts that YAML does not, such as a colon on its own line
    if (error instanceof YamlError) return 0;
    throw error;
  }
}

/** The value of a document. It is parsed again, because keeping all values would use much memory. */
export const valueOfDocument = ({ text, json }: SourceDocument): unknown =>
  valueOfText(withoutMarker(text), json);

/** The value of a document's text. */
export const valueOfText = (text: string, json: boolean): unknown =>
  json ? JSON.parse(text) : readYaml(text);
