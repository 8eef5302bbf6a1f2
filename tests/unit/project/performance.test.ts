import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type Figures, type Section, sections } from '../../bench/report/figures.ts';
import { replaceSection, sectionText } from '../../bench/report/page.ts';
import { plot } from '../../bench/report/plot.ts';

/* docs/performance.md shows the figures of docs/performance/figures.json, and only a bench changes them. */

const text = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const page = text('docs/performance.md');
const figures: Figures = JSON.parse(text('docs/performance/figures.json'));

test('each bench has a section with its command', () => {
  const missing = Object.values(sections).filter((command) => !page.includes(`\n\`${command}\` `));
  assert.deepEqual(missing, []);
});

describe('page and plot are those of the stored figures', () => {
  for (const section of Object.keys(sections) as Section[]) {
    const measured = figures[section];
    test(section, () => {
      assert.ok(measured, `no figures: ${sections[section]} -- --report docs/performance.md`);
      assert.equal(replaceSection(page, section, sectionText(section, measured, 'performance')), page);
      const title = `Figures of ${sections[section]}`;
      assert.equal(text(`docs/performance/${section}.svg`), plot(title, measured.rows));
    });
  }
});
