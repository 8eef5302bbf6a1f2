import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc, { type Arbitrary } from 'fast-check';

const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** Manifests of this project: everything that a user applies, reviews or copies. */
const manifests = [
  'examples/*.yaml',
  'manifests/**/*.yaml',
  'tests/golden/cases/**/*.yaml',
  'docker-compose.yml',
]
  .flatMap((pattern) => globSync(pattern, { cwd: checkout }))
  .sort()
  .map((file) => readFileSync(`${checkout}/${file}`, 'utf8'));

/** Pieces of text that mean something in YAML, or look as if they did. */
const pieces = [
  ':¦: ¦ #¦#¦- ¦-¦? ¦,¦, ¦[¦]¦{¦}¦"¦\'¦\\¦|¦>¦|-\n¦>+\n',
  '&a ¦*a¦<<: ¦!¦!!str ¦!x ¦%¦@¦`¦~¦\t¦ ¦  ¦\n¦\n\n¦\r\n¦---\n¦...\n',
  'null¦yes¦0o7¦0777¦1e3¦1_0¦.5¦1:30¦2026-11-21¦=¦<<¦é¦\u2028¦😀',
].flatMap((some) => some.split('¦'));

/** A change of a text, at a line or place that is given as a fraction. */
type Change = (text: string, at: number, piece: string) => string;

const onLine =
  (change: (line: string, lines: string[], index: number) => string[]): Change =>
  (text, at) => {
    const lines = text.split('\n');
    const index = Math.floor(at * lines.length);
    lines.splice(index, 1, ...change(lines[index] ?? '', lines, index));
    return lines.join('\n');
  };

const changes: Change[] = [
  (text, at, piece) => {
    const place = Math.floor(at * text.length);
    return text.slice(0, place) + piece + text.slice(place);
  },
  (text, at) => {
    const place = Math.floor(at * text.length);
    return text.slice(0, place) + text.slice(place + 1);
  },
  onLine(() => []),
  onLine((line) => [line, line]),
  onLine((line) => [` ${line}`]),
  onLine((line) => [`  ${line}`]),
  onLine((line) => [line.replace(/^ /, '')]),
  onLine((line) => [line.replace(/^ {2}/, '')]),
  onLine((line) => [line.replace(/^ {2}/, '\t')]),
  onLine((line) => [line.trimStart()]),
  onLine((line) => [`${line} # a comment`]),
  onLine((line) => [line, '', '# a comment']),
  onLine((line) => [line.replace(/: (.+)$/, ': "$1"')]),
  onLine((line) => [line.replace(/: (.+)$/, ": '$1'")]),
  onLine((line) => [line.replace(/: (\S+) (.+)$/, ': "$1\n$2"')]),
  onLine((line) => [line.replace(/: (\S+) (.+)$/, ': $1\n $2')]),
  onLine((line) => [line.replace(/: (.+)$/, ': [$1,\n$1\n]')]),
  onLine((line) => [line.replace(/: (.+)$/, ': {$1: $1,\n}')]),
  onLine((line) => [line.replace(/^( *)(.*): (.+)$/, '$1$2: |\n$1  $3')]),
  onLine((line) => [line.replace(/^( *)(.*): (.+)$/, '$1$2: >-\n$1    $3\n$1  $3')]),
  onLine((line) => [line.replace(/^( *)(\w+):/, '$1"$2":')]),
  onLine((line) => [line.replace(/^( *)(\w+):/, '$1? $2\n$1:')]),
  onLine((line) => [line.replace(/: /, ': &a ')]),
  onLine((line) => [line.replace(/: .*/, ': *a')]),
  onLine((line) => [line.replace(/[[\]{}"',]/, '')]),
  onLine((line, lines, index) => [line, ...lines.slice(Math.max(0, index - 2), index)]),
  (text, at) => text.replaceAll(/\r*\n/g, at < 0.5 ? '\r\n' : '\n'),
];

const edit: Arbitrary<(text: string) => string> = fc
  .record({
    change: fc.constantFrom(...changes),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    piece: fc.constantFrom(...pieces),
  })
  .map(
    ({ change, at, piece }) =>
      (text) =>
        change(text, at, piece),
  );

/** A document of a manifest, or a few lines of it, with up to four edits. */
const edited: Arbitrary<string> = fc
  .record({
    manifest: fc.constantFrom(...manifests),
    from: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    lines: fc.integer({ min: 3, max: 40 }),
    whole: fc.boolean(),
    edits: fc.array(edit, { minLength: 1, maxLength: 4 }),
  })
  .map(({ manifest, from, lines, whole, edits }) => {
    const all = manifest.split('\n');
    const start = Math.floor(from * all.length);
    const text = whole ? manifest : `${all.slice(start, start + lines).join('\n')}\n`;
    return edits.reduce((sum, change) => change(sum), text).toWellFormed();
  });

/** Edited manifests, the same ones for the same seed. */
export const editedManifests = (count: number, seed: number): string[] =>
  fc.sample(edited, { numRuns: count, seed });

/** The manifests as they are. */
export const ownManifests = (): string[] => [...manifests];
