import type { Node } from 'yaml';
import { parseYaml, valueOfYaml } from '../../lib/yaml.ts';

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
