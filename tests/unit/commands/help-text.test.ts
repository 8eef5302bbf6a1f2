import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { suite, test } from 'node:test';
import type { Command } from 'commander';
import { certsCommand } from '../../../webhook/commands/certs.ts';
import { checkCommand } from '../../../webhook/commands/check.ts';
import { dashboardCommand } from '../../../webhook/commands/dashboard.ts';
import { helpWidth, layOutHelp } from '../../../webhook/commands/help-layout.ts';
import { wrapText } from '../../../webhook/commands/help-text.ts';
import { reviewCommand } from '../../../webhook/commands/review.ts';
import { serveCommand } from '../../../webhook/commands/serve.ts';
import { statusCommand } from '../../../webhook/commands/status.ts';
import { main } from '../../support/command.ts';

const text = `Exit code: ${'a word and '.repeat(20)}end

Output:
  text   ${'a word and '.repeat(12)}end
  github short`;

const longest = (wrapped: string): number => Math.max(...wrapped.split('\n').map((line) => line.length));
const words = (wrapped: string): string[] => wrapped.split(/\s+/);

test('no line is longer than the width, and no word is lost', () => {
  for (const width of [60, 80, 100]) {
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

test('widths beyond what can be read: 60 to 100 columns; 80 if it is not known', () => {
  assert.equal(wrapText(text, 30), wrapText(text, 60));
  assert.equal(wrapText(text, 500), wrapText(text, 100));
  for (const unknown of [undefined, 0]) assert.equal(wrapText(text, unknown), wrapText(text, 80));
});

test('a word longer than a line is not broken', () => {
  const word = 'x'.repeat(100);
  assert.equal(wrapText(`a ${word} b`, 60), `a\n${word}\nb`);
});

test('COLUMNS goes before the terminal, and is ignored if it is no width', () => {
  assert.equal(helpWidth(90, '70'), 70);
  for (const none of [undefined, '', '0', '-70', 'wide']) assert.equal(helpWidth(90, none), 90);
});

suite('the help of every command', () => {
  const commands = [serveCommand, reviewCommand, checkCommand, statusCommand, dashboardCommand, certsCommand]
    .map((make) => make())
    .flatMap((command) => [command, ...command.commands]);

  function help(command: Command, columns: number): string {
    const { COLUMNS: before } = process.env;
    let shown = '';
    const writeOut = (text: string): void => {
      shown += text;
    };
    try {
      process.env.COLUMNS = String(columns);
      layOutHelp(command).configureOutput({ writeOut }).outputHelp();
    } finally {
      if (before === undefined) delete process.env.COLUMNS;
      else process.env.COLUMNS = before;
    }
    return shown;
  }

  test('fits 60, 80 and 100 columns, and uses them', () => {
    const used = new Map<number, number>();
    for (const command of commands) {
      const shown = [60, 80, 100].map((columns) => [columns, help(command, columns)] as const);
      for (const [columns, text] of shown) {
        assert.ok(longest(text) <= columns, `${columns}: ${longest(text)}\n${text}`);
        used.set(columns, Math.max(used.get(columns) ?? 0, longest(text)));
      }
      const [[, narrow], [, normal], [, wide]] = shown as [
        [number, string],
        [number, string],
        [number, string],
      ];
      assert.deepEqual(words(narrow), words(normal));
      assert.deepEqual(words(wide), words(normal));
    }
    for (const [columns, longestLine] of used) assert.ok(longestLine > columns - 5);
  });

  test('an option that is longer than its column has its text below it', () => {
    assert.match(
      help(serveCommand(), 80),
      /^ {2}--webhook-configurations <kind\/name\.\.\.>\n {30,}whose caBundle to maintain/m,
    );
  });
});

test('--help on a terminal of 74 columns', {
  skip: spawnSync('script', ['--version']).error && 'no script',
}, () => {
  const command = `stty cols 74; exec '${process.execPath}' '${main}' review --help`;
  const { stdout } = spawnSync('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    encoding: 'utf8',
    input: '',
    env: { ...process.env, COLUMNS: '' },
  });
  const shown = stdout.replaceAll('\r', '');
  assert.match(shown, /^Exit code: 0 nothing is wrong; /m);
  assert.ok(longest(shown) <= 74 && longest(shown) > 64, shown);
});

test('help about a command that does not exist says so', () => {
  const { status, stderr } = spawnSync(process.execPath, [main, 'help', 'frob'], { encoding: 'utf8' });
  assert.match(stderr, /^cni-gate: unknown command 'frob' \(CNI_GATE_USAGE\)\nsee cni-gate --help/);
  assert.equal(status, 2);
});
