import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Row } from '../../bench/report/figures.ts';
import { replaceSection, sectionText } from '../../bench/report/page.ts';
import { plot } from '../../bench/report/plot.ts';

const machine = {
  date: '2026-01-31',
  processor: 'AMD EPYC',
  cores: 2,
  kernel: 'Linux 6.12.1',
  versions: { Node: 'v24.1.0', Go: '1.26.1' },
};
const rows: Row[] = [
  { figure: 'rate', conditions: 'pod of 8 KB', measured: 12_345.6, unit: '/s' },
  { figure: 'rate', conditions: 'pod of 8 KB', measured: 0.5, unit: '× bare', aim: { atLeast: 0.75 } },
  { figure: 'wait, p50 & p99 < 1 s', conditions: '', measured: 1.25, unit: 'ms', aim: { atMost: 2 } },
];

describe('figures are rendered as a file of this folder has them', () => {
  for (const [name, text] of [
    ['section.txt', `${sectionText('peers', { machine, rows }, 'performance')}\n`],
    ['plot.svg', plot('Figures of a bench', rows)],
  ] as const) {
    test(name, () => {
      const file = fileURLToPath(new URL(`golden/${name}`, import.meta.url));
      if (process.env.UPDATE_GOLDEN) writeFileSync(file, text);
      assert.equal(text, readFileSync(file, 'utf8'));
    });
  }
});

describe('a bench', () => {
  const module = fileURLToPath(new URL('../../bench/report/report.ts', import.meta.url));
  const bench = (
    section: string,
    ...args: string[]
  ): { status: number | null; stdout: string; stderr: string } => {
    const call = `(await import('${module}')).report('${section}', ${JSON.stringify(rows)}, { Go: '1.26.1' })`;
    return spawnSync(process.execPath, ['--input-type=module', '-e', call, '--', 'bench', ...args], {
      encoding: 'utf8',
    });
  };

  test('without the flag only prints figures, machine and versions', () => {
    const { stdout, status } = bench('peers');
    assert.equal(status, 0);
    for (const part of ['0.5 × bare', 'aim ≥ 0.75', `Node ${process.version}`, 'Go 1.26.1']) {
      assert.ok(stdout.includes(part), part);
    }
  });

  for (const path of ['bench/bench.ts', 'bench/peers.ts', 'cluster/bench/create.ts']) {
    test(`${path} refuses an argument that it does not know before it measures`, () => {
      const file = fileURLToPath(new URL(`../../${path}`, import.meta.url));
      const { status, stdout, stderr } = spawnSync(process.execPath, [file, '--rport'], { encoding: 'utf8' });
      assert.deepEqual([status, stdout], [1, ''], stderr);
      assert.match(stderr, /unknown argument --rport: expected .*--report PAGE/);
    });
  }

  test('refuses a page that does not exist before it measures', () => {
    const { status, stdout, stderr } = bench('peers', '--report', 'no/such/page.md');
    assert.deepEqual([status, stdout], [1, ''], stderr);
    assert.match(stderr, /--report needs a page that exists/);
  });

  test('with --report writes its section, figures and plot, and leaves those of others', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = (name: string): string => readFileSync(join(folder, name), 'utf8');
    const page = join(folder, 'page.md');
    const marked = ['peers', 'scale'].map(
      (name) => `<!-- figures of ${name}: begin -->\n<!-- figures of ${name}: end -->\n`,
    );
    writeFileSync(page, marked.join('\n'));
    for (const section of ['peers', 'scale']) {
      assert.equal(bench(section, '--report', page).status, 0);
    }
    const figures = JSON.parse(file('page/figures.json'));
    assert.deepEqual(Object.keys(figures), ['peers', 'scale']);
    assert.deepEqual(figures.peers.rows, rows);
    for (const section of ['peers', 'scale'] as const) {
      const text = sectionText(section, figures[section], 'page');
      assert.equal(replaceSection(file('page.md'), section, text), file('page.md'));
      assert.ok(file(`page/${section}.svg`).includes('0.5 × bare'));
    }
  });

  test('with --report and a page without its section fails, and writes no figures', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const page = join(folder, 'page.md');
    writeFileSync(page, 'nothing\n');
    const { status, stderr } = bench('peers', '--report', page);
    assert.equal(status, 1);
    assert.match(stderr, /expected the lines "<!-- figures of peers: begin -->"/);
    assert.equal(existsSync(join(folder, 'page/figures.json')), false);
    assert.match(bench('peers', '--report').stderr, /--report needs a page/);
  });
});
