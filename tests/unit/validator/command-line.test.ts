import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readArguments, UsageError } from '../../../validator/command-line.ts';

test('wrong usage: what is wrong, then the usage', () => {
  const usage = 'usage: validate [--termination-log <path>]';
  for (const [args, wrong] of [
    [[], 'expected the command validate, got none'],
    [['serve'], 'expected the command validate, got serve'],
    [['validate', '--bogus'], 'unknown argument --bogus'],
    [['validate', '--termination-log'], '--termination-log needs a path'],
    [['validate', '--termination-log', ''], '--termination-log needs a path'],
    [['validate', '--termination-log', 'x', 'y'], 'unknown argument y'],
  ] as const) {
    assert.throws(() => readArguments([...args]), new UsageError(`${wrong}; ${usage}`));
  }
});
