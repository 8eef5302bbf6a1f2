import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failed } from '../../../validator/finding.ts';
import { type Reason, reasons } from '../../../validator/reasons.ts';
import { exitCode } from '../../../validator/shared/contract.ts';
import { terminationMessage } from '../../../validator/verdict.ts';
import { blocks, pages } from '../../support/pages.ts';
import { assertSaid } from './log-lines.ts';

/** The guide and the program cannot drift apart: what the guide shows is what the program says. */
const [{ text: guide } = { text: '' }] = pages('docs/guides/troubleshooting.md');

interface Section {
  reason: Reason;
  /** The exit code of the chapter that it stands in. */
  code: number;
  text: string;
}

const sections: Section[] = guide.split(/^## /m).flatMap((chapter) => {
  const [head = '', ...parts] = chapter.split(/^### /m);
  const code = Number(/^Exit code (\d+)/.exec(head)?.[1]);
  return parts.map((text) => ({ reason: text.slice(0, text.indexOf('\n')) as Reason, code, text }));
});

test('every reason has its section in the guide, and no other has', () => {
  assert.deepEqual(sections.map(({ reason }) => reason).toSorted(), Object.keys(reasons).toSorted());
});

describe('a section of the guide', () => {
  for (const { reason, code, text } of sections) {
    test(`${reason}: a line of the log is as the program writes it`, () => {
      for (const line of blocks(text, 'text')) {
        const { finding } = assertSaid(line);
        assert.equal(finding.passed ? 'passed' : finding.reason, reason);
      }
    });

    test(`${reason} is in the chapter of its exit code and has its labels`, () => {
      assert.equal(code, reasons[reason]?.code);
      const said = [...text.matchAll(/^\*\*(.+?)\*\*:/gm)].map((match) => match[1]);
      // the log line itself says what to look at, and only a verdict about the network can be a false alarm
      const optional = ['Check', ...(code === 95 ? [] : ['False alarm'])];
      const labels = ['Means', 'Check', 'Fix', 'False alarm'];
      assert.deepEqual(
        said,
        labels.filter((label) => said.includes(label) || !optional.includes(label)),
      );
    });
  }
});

test('the message in the guide is one that the program leaves', () => {
  const [, text = ''] = /Message: +(\{.*\})$/m.exec(guide) ?? [];
  const { checks, ...head } = JSON.parse(text);
  const results = checks.map(({ reason, seen, passed: _, ...rest }: Record<string, string>) => ({
    ...rest,
    finding: failed(reason as Reason, seen ?? ''),
  }));
  assert.equal(terminationMessage({ ...head, warn: false, results }), text);
});

test('the table of exit codes has those that there are', () => {
  const rows = [...guide.matchAll(/^\| (\d+) +\| `/gm)].map((match) => Number(match[1]));
  assert.deepEqual(
    rows,
    Object.values(exitCode).toSorted((a, b) => a - b),
  );
});
