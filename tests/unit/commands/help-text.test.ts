import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { wrapText } from '../../../webhook/commands/help-text.ts';
import { main } from '../../support/command.ts';

const text = `Exit code: ${'a word and '.repeat(20)}end

Output:
  text   ${'a word and '.repeat(12)}end
  github short`;

const longest = (wrapped: string): number => Math.max(...wrapped.split('\n').map((line) => line.length));
const words = (wrapped: string): string[] => wrapped.split(/\s+/);

test('no line is longer than the width, and no word is lost', () => {
  for (const width of [40, 60, 80, 100]) {
    const wrapped = wrapText(text, width);
    assert.ok(longest(wrapped) <= width, `${longest(wrapped)} of ${width}`);
    assert.ok(longest(wrapped) > width - 12);
    assert.deepEqual(words(wrapped), words(text));
  }
});

test('an item continues below its text', () => {
  const lines = wrapText(text, 60).split('\n');
  const start = lines.findIndex((line) => line.startsWith('  text   '));
  assert.match(lines[start + 1] ?? '', /^ {9}\S/);
  assert.equal(lines.at(-1), '  github short');
});

test('widths beyond what can be read: 40 to 110 columns; 80 if it is not known', () => {
  assert.equal(wrapText(text, 0), wrapText(text, 40));
  assert.equal(wrapText(text, 500), wrapText(text, 110));
  assert.equal(wrapText(text), wrapText(text, 80));
});

test('a word longer than a line is not broken', () => {
  const word = 'x'.repeat(100);
  assert.equal(wrapText(`a ${word} b`, 40), `a\n${word}\nb`);
});

test('--help on a terminal of 74 columns', {
  skip: spawnSync('script', ['--version']).error && 'no script',
}, () => {
  const command = `stty cols 74; exec '${process.execPath}' '${main}' review --help`;
  const { stdout } = spawnSync('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    encoding: 'utf8',
    input: '',
  });
  const shown = stdout.replaceAll('\r', '');
  assert.match(shown, /^Exit code: 0 nothing is wrong; /m);
  assert.ok(longest(shown) <= 74 && longest(shown) > 64, shown);
});
