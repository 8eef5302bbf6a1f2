import { structuredPatch } from 'diff';
import { stringify } from 'yaml';
import { templateLines } from './values.ts';

/** An object as the chart renders it with one option. `condition` is the option's Go template expression. */
export interface Variation {
  condition: string;
  object: object | undefined;
}

/** Lines of the default object, from `start` up to but not including `end`, that an option replaces with `lines`. */
interface Change {
  condition: string;
  start: number;
  end: number;
  lines: string[];
}

/**
 * Writes an object as a Go template, in which `if` and `else` surround the lines that an option changes.
 *
 * @param object the object without any option
 * @throws Error if two options change the same lines in different ways
 */
export function objectTemplate(object: object | undefined, variations: readonly Variation[]): string {
  const lines = linesOf(object);
  const changes = variations
    .flatMap((variation) => changesOf(lines, variation))
    .sort((one, other) => one.start - other.start || one.end - other.end);
  const body: string[] = [];
  let at = 0;
  for (const { condition, start, end, lines: changed } of changes) {
    if (start < at)
      throw new Error(`Two options change the same lines:\n${lines.slice(start, at).join('\n')}`);
    body.push(
      ...text(lines.slice(at, start)),
      ...either(condition, text(changed), text(lines.slice(start, end))),
    );
    at = end;
  }
  body.push(...text(lines.slice(at)));
  const without = object === undefined ? [] : variations.filter((each) => each.object === undefined);
  return joined(without.reduceRight((inner, { condition }) => either(condition, [], inner), body));
}

function changesOf(lines: string[], { condition, object }: Variation): Change[] {
  if (object === undefined) return [];
  const [before, after] = [lines, linesOf(object)].map((all) => all.map((line) => `${line}\n`).join(''));
  const { hunks } = structuredPatch('', '', before ?? '', after ?? '', '', '', { context: 0 });
  return hunks.map(({ oldStart, oldLines, lines: changed }) => {
    const added = changed.filter((line) => line.startsWith('+')).map((line) => line.slice(1));
    return { condition, start: oldStart - 1, end: oldStart - 1 + oldLines, lines: added };
  });
}

function either(condition: string, chosen: string[], otherwise: string[]): string[] {
  if (chosen.length === 0 && otherwise.length === 0) return [];
  if (chosen.length === 0) return either(`not (${condition})`, otherwise, []);
  const second = otherwise.length === 0 ? [] : ['{{- else }}', ...otherwise];
  return [`{{- if ${condition} }}`, ...chosen, ...second, '{{- end }}'];
}

const text = (lines: readonly string[]): string[] => lines.flatMap(templateLines);

const linesOf = (object: object | undefined): string[] =>
  // Helm reads YAML 1.1
  object === undefined ? [] : stringify(object, { lineWidth: 0, version: '1.1' }).trimEnd().split('\n');

const joined = (lines: string[]): string => `${lines.join('\n')}\n`;
