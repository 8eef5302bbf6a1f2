import { isUtf8 } from 'node:buffer';
import { createReadStream, globSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { systemText } from '../../lib/errors.ts';
import { readYaml, type YamlDocument, YamlError } from '../../lib/yaml.ts';
import type { Fault, Path, SourceDocument } from '../model.ts';

const mebi = 2 ** 20;

/** The maximum characters of a YAML document. Parsing takes up to a hundred times the memory of its text. */
export const largestYaml = 8 * mebi;

/** The maximum bytes of all inputs. Processing needs up to six times as much, so a small heap lowers the limit. */
export const mostInput = (): number =>
  Math.min(256 * mebi, Math.floor(getHeapStatistics().heap_size_limit / 8));

/** The argument of `-f` for standard input. */
export const standardInput = '-';

/** The name of standard input in reports. */
export const standardInputName = 'stdin';

/**
 * What an argument of `-f` names: a file, `-`, or the files of a folder or glob.
 *
 * @returns paths, and faults for what does not exist or may not be read
 */
export function expand(name: string): (string | Fault)[] {
  if (name === standardInput) return [name];
  try {
    return statSync(name).isDirectory() ? manifestsIn(name) : [name];
  } catch (error) {
    // an existing file takes precedence over a pattern
    const isGlob = /[*?[{]/.test(name);
    const matches = isGlob ? globSync(name).filter((match) => match !== name) : [];
    if (matches.length === 0) return [unreadable(name, isGlob ? 'no file matches' : systemText(error))];
    return matches.toSorted().flatMap(expand);
  }
}

/**
 * The manifests in a folder and its subfolders, sorted by path, without `node_modules`, links to folders, and names
 * that begin with a dot. A folder with a kustomization is a fault, because its files are not applied as they are.
 */
function manifestsIn(folder: string): (string | Fault)[] {
  const matching = (pattern: string): string[] => {
    const options = { cwd: folder, exclude: (path: string) => basename(path) === 'node_modules' };
    return globSync(`**/${pattern}`, options)
      .toSorted()
      .map((path) => join(folder, path));
  };
  const kustomized = matching('{kustomization.yaml,kustomization.yml,Kustomization}').map(dirname);
  const isRead = (path: string): boolean =>
    !kustomized.some((kustomization) => path.startsWith(`${kustomization}${sep}`));
  return [
    ...matching('*.{yaml,yml,json}').filter(isRead),
    ...kustomized.filter(isRead).map((file) => ({
      code: 'CNI_GATE_INPUT_KUSTOMIZE' as const,
      message:
        'the folder has a kustomization, so its files are not read: review what `kubectl kustomize` renders with -f -',
      file,
    })),
  ];
}

/**
 * Reads a file, or standard input for `-`, as UTF-8 text without a byte order mark.
 *
 * @param max the maximum number of bytes
 */
export async function readInput(path: string, max: number): Promise<{ file: string; text: string } | Fault> {
  const file = path === standardInput ? standardInputName : path;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // bytes are counted while reading, because a pipe or special file has no known size
    for await (const chunk of path === standardInput ? process.stdin : createReadStream(path)) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > max) {
        const message = `review accepts ${(mostInput() / mebi).toFixed(1)} MiB of input in total: review fewer files at a time, or give Node more memory with NODE_OPTIONS=--max-old-space-size`;
        return { code: 'CNI_GATE_INPUT_TOO_LARGE', message, file };
      }
      chunks.push(bytes);
    }
  } catch (error) {
    return unreadable(file, systemText(error));
  }
  const bytes = Buffer.concat(chunks);
  if (isUtf8(bytes) && !bytes.includes(0)) return { file, text: new TextDecoder().decode(bytes) };
  return unreadable(file, 'expected UTF-8 text, found other bytes: is it binary, or UTF-16?');
}

const unreadable = (file: string, message: string): Fault => ({
  code: 'CNI_GATE_INPUT_UNREADABLE',
  message,
  file,
});

/**
 * Reads a stream of YAML documents and JSON values. A document that cannot be read has a fault.
 *
 * As in kubectl (apimachinery `pkg/util/yaml` YAMLReader), a document begins at every line that begins with `---`, even
 * in block scalars and quotes, and text after a line `...` is ignored. JSON values need no marker between them.
 *
 * @param file the name of the file, for messages
 */
export function* readStream(file: string, text: string): Generator<SourceDocument, undefined> {
  let start = 1;
  for (const part of text.split(/(?<=^|\n)(?=---)/)) {
    for (const own of jsonValues(part) ?? [part]) {
      if (own === '') continue;
      const document: SourceDocument = { file, text: own, start, json: isJson(own) };
      document.fault = faultIn(document);
      yield document;
      start += newlines(own);
    }
  }
}

/** Splits a text into JSON values that begin on lines of their own; undefined for other texts, such as YAML. */
function jsonValues(text: string): string[] | undefined {
  if (!/^\s*[{[]/.test(withoutMarker(text))) return undefined;
  // a new value begins where `{` or `[` begins the line after a `}` or `]`: within a value, a comma comes between
  const values = text.split(/(?=[{[])(?<=[}\]][ \t\r]*\n\s*)/);
  return values.length > 1 && isJson(values[0] ?? '') ? values : undefined;
}

function isJson(part: string): boolean {
  const text = withoutMarker(part);
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A document without its `---`. Spaces replace the marker, so that offsets do not change. */
const withoutMarker = (text: string): string =>
  text.replace(/^---[ \t]*(?=[\s#]|$)/, (marker) => ' '.repeat(marker.length));

const newlines = (text: string): number => text.split('\n').length - 1;

function faultIn(document: SourceDocument): Fault | undefined {
  const { file, start, text, json } = document;
  const fault = (code: Fault['code'], message: string, at: Pick<Fault, 'line' | 'column'>): Fault => ({
    ...{ code, message, file },
    ...at,
  });
  if (!json && text.length > largestYaml) {
    const message = `a YAML document has more than ${largestYaml / mebi} MiB: split it, or print a larger List with kubectl's --output json`;
    return fault('CNI_GATE_INPUT_TOO_LARGE', message, { line: start });
  }
  if (!json && (text.match(/^kind:/gm)?.length ?? 0) > 1) {
    const message = 'the key "kind" occurs twice: is a "---" missing before this manifest?';
    const line = start + newlines(text.slice(0, text.lastIndexOf('\nkind:') + 1));
    return fault('CNI_GATE_INPUT_SYNTAX', message, { line });
  }
  try {
    parsed(document);
    return undefined;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const { message, column } = error;
    // `parse` may have added a newline, so the line number of an error at the end can be too high by one
    const line = Math.min(start + error.line - 1, start + newlines(text));
    const isTemplate = /^[^#\n]*(?:\{\{|\{%)/m.test(text);
    const advice = isTemplate ? '; render a template first, for example with helm template' : '';
    return fault('CNI_GATE_INPUT_SYNTAX', `neither YAML nor JSON: ${message}${advice}`, { line, column });
  }
}

let last: { document: SourceDocument; parsed: YamlDocument } | undefined;

/**
 * The value of a document, which must not be changed. Only the latest value stays in memory, because a value uses
 * several times the memory of its text.
 *
 * @throws YamlError
 */
export function parsed(document: SourceDocument): YamlDocument {
  if (last?.document !== document) {
    last = undefined;
    last = { document, parsed: parse(document) };
  }
  return last.parsed;
}

function parse({ text: own, start, json }: SourceDocument): YamlDocument {
  const text = withoutMarker(own);
  // `JSON.parse` returns no positions, so every path gets the line on which the value begins
  if (json) return { value: JSON.parse(text), lineOf: () => firstLine(text, start) };
  // as kubectl does, adds a newline to the last line if it has none
  const [document] = readYaml(text.endsWith('\n') ? text : `${text}\n`);
  if (document === undefined) return { value: null, lineOf: () => start };
  const { value, lineOf } = document;
  return { value, lineOf: (path) => start + lineOf(path) - 1 };
}

const firstLine = (text: string, start: number): number => start + newlines(text.slice(0, text.search(/\S/)));

/** The line of the value at a path in a document, or of the nearest parent that exists. */
export const lineOf = (document: SourceDocument, path: Path): number => parsed(document).lineOf(path);
