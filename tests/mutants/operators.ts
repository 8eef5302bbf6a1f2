/** A small change of one line of a source file. */
export interface Mutant {
  file: string;
  /** Counted from 1. */
  line: number;
  before: string;
  after: string;
}

type Operator = [pattern: RegExp, replacement: string];

/** Each changes one decision, one amount or one effect. Spaces around an operator tell it from a type argument. */
const operators: readonly Operator[] = [
  [/ === /, ' !== '],
  [/ !== /, ' === '],
  [/ < /, ' >= '],
  [/ > /, ' <= '],
  [/ <= /, ' > '],
  [/ >= /, ' < '],
  [/ && /, ' || '],
  [/ \|\| /, ' && '],
  [/ \+ /, ' - '],
  [/ - /, ' + '],
  [/!(?=[a-z#(])/, ''],
  [/\btrue\b/, 'false'],
  [/\bfalse\b/, 'true'],
  [/Math\.max/, 'Math.min'],
  [/Math\.min/, 'Math.max'],
  [/\.some\(/, '.every('],
  [/\.every\(/, '.some('],
  [/\bif \(.*\) /, 'if (false) '],
  [/^\s+(?:this\.)?[#\w.?]+\((?:[^()]|\([^()]*\))*\);$/, ''],
];

/** Lines that decide nothing at run time. */
const declarations =
  /^\s*((import|export type|export interface|type|interface)\b|\*|\/\*|\/\/|\}|(readonly )?\w+\??: [^=]*;$)/;

/** All mutants of a source text, in the order of its lines. A text in quotes and a comment at a line's end stay. */
export function mutantsOf(file: string, text: string): Mutant[] {
  return text.split('\n').flatMap((before, index) => {
    if (declarations.test(before)) return [];
    const code = masked(before);
    return operators.flatMap(([pattern, replacement]) => {
      const match = pattern.exec(code);
      if (match === null) return [];
      const { index: at } = match;
      const after = before.slice(0, at) + replacement + before.slice(at + match[0].length);
      return [{ file, line: index + 1, before, after }];
    });
  });
}

/** The line with what is in quotes or a comment replaced by underscores, so that columns stay. */
const masked = (line: string): string =>
  line.replace(/'[^']*'|`[^`]*`|\/\/.*$/g, (part) => '_'.repeat(part.length));

/**
 * Chooses mutants evenly over a list, the same ones for the same list.
 *
 * @param count how many at most
 */
export const sample = (mutants: readonly Mutant[], count: number): Mutant[] =>
  mutants.filter(
    (_, index) =>
      Math.floor((index * count) / mutants.length) !== Math.floor(((index - 1) * count) / mutants.length),
  );
