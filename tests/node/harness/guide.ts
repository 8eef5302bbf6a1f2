import { readFileSync } from 'node:fs';

const guide = new URL('../../../docs/reference/errors.md', import.meta.url);
const heading = '## A pod that is stuck in Init';

/** Parts of the output that differ for each pod, each run, or each second. */
const changing: [RegExp, string][] = [
  [/\bweb-[a-z0-9]+-[a-z0-9]+/g, 'POD'],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID'],
  [/\b10\.244\.\d+\.\d+/g, 'ADDRESS'],
  [/"netns":"\d+"/g, '"netns":"NUMBER"'],
  [/"seconds":[\d.]+/g, '"seconds":NUMBER'],
  [/[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]+ \+0000/g, 'TIME'],
  [/\b(\d+[hms])+( \(x\d+ over (\d+[hms])+\))?/g, 'AGE'],
  [/\s+/g, ' '],
];

/**
 * Returns the lines that docs/reference/errors.md shows as kubectl's output about a pod that is stuck in init, but that
 * kubectl did not print. The page marks omitted lines with `…`.
 */
export function linesNotPrinted(printed: string): string[] {
  const lines = new Set(printed.split('\n').map(withoutChanging));
  return shown().filter((line) => !lines.has(withoutChanging(line)));
}

function shown(): string[] {
  const [, text = ''] = readFileSync(guide, 'utf8').split(`${heading}\n`);
  const blocks = text.slice(0, text.indexOf('\n##')).matchAll(/^```console\n([\s\S]*?)^```$/gm);
  const lines = [...blocks].flatMap(([, block = '']) => block.split('\n'));
  const kept = lines.filter((line) => line !== '' && line.trim() !== '…' && !line.startsWith('$ '));
  if (kept.length === 0) throw new Error(`the guide shows nothing below "${heading}"`);
  return kept;
}

function withoutChanging(line: string): string {
  return changing.reduce((text, [what, by]) => text.replace(what, by), line.trim());
}
