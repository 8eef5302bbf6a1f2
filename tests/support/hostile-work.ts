import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { typicalGrowth, type Work } from './growth.ts';

/** Linear work gives 4, and up to 10 where the collector of garbage takes its share; quadratic work gives 16. */
export const mostGrowth = 12;

/**
 * A test for each function that works on texts and lists of others, with input that would be worst for it: its work
 * grows with the input and no faster.
 */
export function growsLinearly(of: string, hostile: readonly (readonly [name: string, work: Work])[]): void {
  suite(`work grows with its input and no faster: ${of}`, () => {
    for (const [name, work] of hostile) {
      test(name, { timeout: 120_000 }, () => {
        const grown = typicalGrowth(work);
        assert.ok(grown <= mostGrowth, `an input 4 times as large takes ${grown.toFixed(1)} times as long`);
      });
    }
  });
}

export const many = <T>(size: number, make: (index: number) => T): T[] =>
  Array.from({ length: size }, (_, index) => make(index));

export const map = <T>(size: number, make: (index: number) => T): Record<string, T> =>
  Object.fromEntries(many(size, (index) => [`example.com/key-${index}`, make(index)]));

/** Work on a text that is a part over and over again, with something before and behind it. */
export const onText =
  (handle: (text: string) => unknown, part: string, before = '', behind = ''): Work =>
  (size) => {
    const text = before + part.repeat(size) + behind;
    return () => handle(text);
  };

/** Work on a value that is made for its size. */
export const on =
  <T>(make: (size: number) => T, handle: (value: T) => unknown): Work =>
  (size) => {
    const value = make(size);
    return () => handle(value);
  };
