import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../..', import.meta.url));
const site = join(checkout, 'release/site');
const vitepress = join(site, 'node_modules/vitepress/bin/vitepress.js');
const out = mkdtempSync(join(tmpdir(), 'cni-gate-site-'));
after(() => rmSync(out, { recursive: true }));
const page = (path: string): string => readFileSync(join(out, path), 'utf8');

before(() => run('node', [vitepress, 'build', site, '--outDir', out]), { timeout: 300_000 });

test('each Markdown file of the documentation is a page', () => {
  const files = globSync(['*.md', 'docs/**/*.md'], { cwd: checkout });
  assert.ok(files.length > 30, `${files.length} files`);
  for (const file of files) {
    const expected = file.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html');
    assert.ok(existsSync(join(out, expected)), `${file} is no page ${expected}`);
  }
});

test('the sidebar leads to each guide and decision', () => {
  const home = page('index.html');
  for (const file of globSync(['docs/guides/*.md', 'docs/decisions/*.md'], { cwd: checkout })) {
    const link = `/${file.replace(/README\.md$/, '').replace(/\.md$/, '')}`;
    assert.ok(home.includes(`href="${link}"`), link);
  }
});

test('a link to code leads to the repository, a link to a page to the page', () => {
  const guide = page('docs/guides/install.html');
  assert.match(
    page('docs/decisions/proofs-of-nodes.html'),
    /href="https:\/\/github\.com\/cni-gate\/cni-gate\/tree\/main\/tests\/README\.md#node"/,
  );
  // the sidebar's links begin at the root
  assert.ok(guide.includes('<a href="./certificates"'));
  assert.doesNotMatch(guide, /href="[^"]*\.\.\/\.\.\/manifests/);
});

test('nothing is loaded from another host', () => {
  for (const file of globSync('**/*.{html,css}', { cwd: out })) {
    const text = page(file);
    assert.doesNotMatch(text, /<(script|img|link|iframe)[^>]+(src|href)="(https?:)?\/\//, file);
    assert.doesNotMatch(text, /url\((['"]?)(https?:)?\/\//, file);
  }
});

test('the diagrams are what their text gives', async () => {
  await run('node', ['diagrams.js', '--check'], { cwd: site });
});
