import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';
import { blocks, pages } from '../../support/pages.ts';
import { assertLog, isLog } from './log-lines.ts';

/** A log that a guide shows is one that the program writes, line by line and as a whole. */
describe('a log in a guide is one that the program writes', () => {
  const guides = pages('docs/guides/*.md').map(({ path, text }) => ({
    path,
    logs: blocks(text, 'text').filter(isLog),
  }));

  for (const { path, logs } of guides.filter((guide) => guide.logs.length > 0)) {
    test(path, () => void logs.forEach(assertLog));
  }

  for (const { name } of builtInProfiles()) {
    test(`${name} has a guide that shows it proved`, () => {
      const guide = guides.find(({ path }) => path === `docs/guides/${name}.md`);
      const its = guide?.logs.filter((log) => log.startsWith(`${name}: `));
      assert.deepEqual(its?.map(verdictOf), ['verdict: passed']);
    });
  }
});

const verdictOf = (log: string): string | undefined => /^verdict: \S+/m.exec(log)?.[0];
