import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failed } from '../../../validator/finding.ts';
import { type Reason, reasons } from '../../../validator/reasons.ts';
import { exitCode } from '../../../validator/shared/contract.ts';
import { terminationMessage } from '../../../validator/verdict.ts';
import { pages } from '../../support/pages.ts';

/* The program behaves as docs/reference/errors.md describes for a failed proof. */

const [{ text } = { text: '' }] = pages('docs/reference/errors.md');

test('every reason has a section in the chapter of its exit code', () => {
  const chapters = text.split(/^## /m);
  for (const [reason, { code }] of Object.entries(reasons)) {
    const chapter = chapters.find((part) => part.includes(`\n### ${reason}\n`));
    assert.ok(chapter?.includes(`the exit code is ${code}`), reason);
  }
});

test('the message on the page is one that the program writes', () => {
  const [, message = ''] = /Message: +(\{.*\})$/m.exec(text) ?? [];
  const { checks, ...head } = JSON.parse(message);
  const results = checks.map(({ reason, seen, passed: _, ...rest }: Record<string, string>) => ({
    ...rest,
    finding: failed(reason as Reason, seen ?? ''),
  }));
  assert.equal(terminationMessage({ ...head, warn: false, results }), message);
});

test('the list of exit codes is complete', () => {
  const codes = [...text.matchAll(/^- (\d[\d, ]*), `/gm)].flatMap(([, listed = '']) => listed.split(', '));
  assert.deepEqual(
    codes.map(Number).toSorted((a, b) => a - b),
    Object.values(exitCode).toSorted((a, b) => a - b),
  );
});
