import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { CheckName, ProfileCheck } from '../../../validator/contract.ts';
import { env } from '../../../validator/contract.ts';
import { exitCode } from '../../../validator/exit-codes.ts';
import { expectedOf } from '../../../validator/expected.ts';
import { failed, held, type Result } from '../../../validator/finding.ts';
import { terminationMessage } from '../../../validator/message.ts';
import { plan } from '../../../validator/plan.ts';
import { readPod } from '../../../validator/pod.ts';
import { readChecks } from '../../../validator/read-checks.ts';
import { type Reason, reasons } from '../../../validator/reasons.ts';
import { nameOf, sentenceOn, verdictSentence } from '../../../validator/sentences.ts';
import { verdictOf } from '../../../validator/verdict.ts';
import { loadBuiltInChecks } from './fixtures.ts';

/** The guide and the program cannot drift apart: what the guide shows is what the program says. */
const guide = readFileSync(new URL('../../../docs/guides/troubleshooting.md', import.meta.url), 'utf8');

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

/** Checks of the guide's lines that no built-in profile has. */
const ownChecks: ProfileCheck[] = [
  { profile: 'own-mesh', redirect: outbound(80) },
  { profile: 'linkerd', redirect: outbound(4140) },
  ...['db.shop.svc.cluster.local', '10.244.1.1', '10.96.14.3'].map((host) => ({
    profile: 'database',
    reach: { host, port: 5432, timeout: '5s' },
  })),
];

function outbound(listen: number): Extract<ProfileCheck, { redirect: unknown }>['redirect'] {
  return { direction: 'outbound', listen, connect: ['192.0.2.2:1404'], timeout: '10s' };
}

/** Everything that the program says it expects, of the pods that the guide's lines are about. */
const expectations = new Set(
  ['10.244.1.7', '10.244.1.7,fd00:10:244:1::7', 'fd00:10:244:1::7', ''].flatMap((podIPs) =>
    ['storage@net1', '[not a list'].flatMap((networks) => {
      const environment = {
        [env.podIPs]: podIPs,
        [env.podNamespace]: 'shop',
        [env.networks]: networks,
      };
      const pod = readPod(environment, 65_532, () => []);
      const asked = readChecks(JSON.stringify([...loadBuiltInChecks(), ...ownChecks]));
      return plan(asked, pod).map(
        (step) => `${step.profile}: ${nameOf(step.word, step.family)}: ${expectedOf(step, pod)}`,
      );
    }),
  ),
);

/** A line of the log taken apart. Put together again by the program it has to be the same. */
function read(line: string): Result {
  const match =
    /^(?<profile>\S+): (?<check>[a-z]+)(?: (?<family>IPv[46]))? (?:held|(?:failed|could not be proved) \((?<reason>\S+)\)): expected (?<expected>.+?); saw (?<rest>.+)$/.exec(
      line,
    );
  assert.ok(match?.groups, `not a line of the log: ${line}`);
  const { profile = '', check, family, reason, expected = '', rest = '' } = match.groups;
  return {
    profile,
    check: check as CheckName,
    ...(family !== undefined && { family: family as 'IPv4' | 'IPv6' }),
    expected,
    finding: reason === undefined ? heldBy(rest) : failedBy(reason, rest),
  };
}

function heldBy(rest: string): Result['finding'] {
  const [seen = '', note] = rest.slice(0, -1).split('. Note: ');
  return held(seen, note);
}

function failedBy(reason: string, rest: string): Result['finding'] {
  assert.ok(Object.hasOwn(reasons, reason), `unknown reason ${reason}`);
  const { lookAt } = reasons[reason as Reason];
  assert.ok(rest.endsWith(`. ${lookAt}`), `"${rest}" does not end with "${lookAt}"`);
  return failed(reason as Reason, rest.slice(0, -lookAt.length - 2));
}

function assertSaid(line: string): Result {
  const result = read(line);
  assert.equal(sentenceOn(result), line);
  const said = `${result.profile}: ${nameOf(result.check, result.family)}: ${result.expected}`;
  assert.ok(expectations.has(said), `the program never expects this: ${said}`);
  return result;
}

describe('a section of the guide', () => {
  for (const { reason, code, text } of sections) {
    test(`${reason} shows a line of the log as the program writes it`, () => {
      const [line] = blocks(text, 'text');
      assert.ok(line, 'no log line');
      const { finding } = assertSaid(line);
      assert.equal(finding.held ? 'held' : finding.reason, reason);
    });

    test(`${reason} stands in the chapter of its exit code and says what there is to say`, () => {
      assert.equal(code, reasons[reason]?.code);
      const said = [...text.matchAll(/^\*\*(.+?)\*\*:/gm)].map((match) => match[1]);
      assert.deepEqual(said, ['Means', 'Look at', 'Mends it', 'False alarm']);
    });
  }
});

test('every other line of the log in the guide is one that the program writes', () => {
  for (const line of blocks(guide, 'text').flatMap((block) => block.split('\n'))) {
    if (line.startsWith('verdict: ')) assert.equal(verdictAgain(line), line);
    else assertSaid(line);
  }
});

/** The last line of a log with one failure, as the program writes it for what the line tells. */
function verdictAgain(line: string): string {
  const match = /after ([\d.]+) s: (\S+) ([a-z]+) (IPv4|IPv6) ([a-z-]+)/.exec(line);
  const [, seconds, profile = '', check, family, reason] = match ?? [];
  const finding = failed(reason as Reason, 'nothing');
  const results = [{ profile, check, family, expected: 'something', finding } as Result];
  return verdictSentence({
    ...verdictOf(results),
    warn: line.includes('proof.mode is warn'),
    sandbox: { netns: '4026532008', bootId: 'any' },
    seconds: Number(seconds),
    results,
  });
}

test('the message in the guide is one that the program leaves', () => {
  const [text = ''] = blocks(guide, 'json');
  const { checks, ...head } = JSON.parse(text);
  const results = checks.map(({ reason, seen, held: _, ...rest }: Record<string, string>) => ({
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

/** The code blocks of a language; one that stands in a list is moved to the left. */
function blocks(text: string, language: string): string[] {
  const found = text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)\\n *\`\`\`$`, 'gm'));
  return [...found].map(([, indent = '', body = '']) =>
    body
      .split('\n')
      .map((line) => line.slice(indent.length))
      .join('\n'),
  );
}
