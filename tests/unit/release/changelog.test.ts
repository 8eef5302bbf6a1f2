import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changelogSection } from '../../../release/changelog.ts';

const changelog = '# Changelog\n\n## 0.2.0 (2027-01-01)\n\n- New.\n\n## 0.1.0\n\n- First.\n';

test('a version has the text up to the next heading', () => {
  assert.equal(changelogSection(changelog, '0.2.0'), '- New.\n');
  assert.equal(changelogSection(changelog, '0.1.0'), '- First.\n');
});

test('a version without a section is an error that names those that there are', () => {
  assert.throws(() => changelogSection(changelog, '0.2'), /no section "## 0\.2", only: 0\.2\.0.*0\.1\.0/);
});
