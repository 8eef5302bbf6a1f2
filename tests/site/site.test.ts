import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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
  assert.ok(files.length > 45, `${files.length} files`);
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
    /href="https:\/\/github\.com\/cni-gate\/cni-gate\/tree\/main\/tests\/node\/README\.md#repair"/,
  );
  // the sidebar's links begin at the root
  assert.ok(guide.includes('<a href="./certificates"'));
  assert.doesNotMatch(guide, /href="[^"]*\.\.\/\.\.\/manifests/);
});

test('text in braces is text', () => {
  assert.match(page('docs/reference/errors.html'), /\{\{/);
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

test('a link to a page that does not exist fails the build', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'cni-gate-docs-'));
  try {
    for (const path of [...globSync('*.md', { cwd: checkout }), 'docs', 'release/site/.vitepress'])
      cpSync(join(checkout, path), join(copy, path), {
        recursive: true,
        filter: (from) => !/cache$/.test(from),
      });
    for (const path of ['tsconfig.json', 'release/site/package.json'])
      cpSync(join(checkout, path), join(copy, path));
    symlinkSync(join(site, 'node_modules'), join(copy, 'release/site/node_modules'));
    writeFileSync(join(copy, 'docs/guides/broken.md'), '# Broken\n\n[nowhere](nowhere.md)\n');
    // with CI set, colours stand between the words
    const env = { ...process.env, NO_COLOR: '1' };
    const build = run('node', [vitepress, 'build', join(copy, 'release/site')], { env });
    await assert.rejects(build, /dead link .*nowhere in file docs\/guides\/broken\.md/);
  } finally {
    rmSync(copy, { recursive: true });
  }
});
