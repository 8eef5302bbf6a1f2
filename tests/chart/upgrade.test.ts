import { test } from 'node:test';
import { lastRelease } from './upgrade/last-release.ts';

if (lastRelease() === undefined) {
  const skip =
    'Git has no tag v* before this commit. If there are releases, run git fetch --tags --unshallow';
  test('upgrade from the last release', { skip });
} else await import('./upgrade/under-load.ts');
