import assert from 'node:assert/strict';
import { failed, passed, type Result } from '../../../validator/finding.ts';
import { readChecks } from '../../../validator/input.ts';
import { nameOf, sentenceOn, verdictSentence } from '../../../validator/log.ts';
import { expectedOf, plan } from '../../../validator/plan.ts';
import { readPod } from '../../../validator/pod.ts';
import { type Reason, reasons } from '../../../validator/reasons.ts';
import { type CheckName, env, type ProfileCheck } from '../../../validator/shared/contract.ts';
import { verdictOf } from '../../../validator/verdict.ts';
import { loadBuiltInChecks } from './fixtures.ts';

/** Lines of the validator's log in a page: the program must write the same. */

/** Checks of the pages' lines that no built-in profile has. */
const ownChecks: ProfileCheck[] = [
  { profile: 'own-mesh', redirect: outbound(80) },
  { profile: 'linkerd', redirect: outbound(4140) },
  { profile: 'linkerd', witness: { port: 14_040, inbound: 4143, timeout: '30s' } },
  { profile: 'witnessed', witness: { port: 14_040, timeout: '30s' } },
  ...['db.shop.svc.cluster.local', '10.244.1.1', '10.96.14.3'].map((host) => ({
    profile: 'database',
    reach: { host, port: 5432, timeout: '5s' },
  })),
];

function outbound(listen: number): Extract<ProfileCheck, { redirect: unknown }>['redirect'] {
  return { direction: 'outbound', listen, connect: ['192.0.2.2:1404'], timeout: '10s' };
}

const podAddresses = ['10.244.1.7', '10.244.1.7,fd00:10:244:1::7', 'fd00:10:244:1::7', '10.0.23.114', ''];

/** Everything that the program says it expects, of the pods that the pages' lines are about. */
const expectations = new Set(
  podAddresses.flatMap((podIPs) =>
    ['storage@net1', '[not a list'].flatMap((networks) => {
      const environment = {
        [env.podIPs]: podIPs,
        [env.podNamespace]: 'shop',
        [env.networks]: networks,
      };
      const pod = readPod(environment, 64_532, () => []);
      const asked = readChecks(JSON.stringify([...loadBuiltInChecks(), ...ownChecks]));
      return plan(asked, pod).map(
        (step) => `${step.profile}: ${nameOf(step.name, step.family)}: ${expectedOf(step, pod)}`,
      );
    }),
  ),
);

/** A line of the log taken apart. Put together again by the program it has to be the same. */
function read(line: string): Result {
  const match =
    /^(?<profile>\S+): (?<check>[a-zA-Z]+)(?: (?<family>IPv[46]))? (?:passed|(?:failed|could not be proved) \((?<reason>\S+)\)): expected (?<expected>.+?); saw (?<rest>.+)$/.exec(
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
  return passed(seen, note);
}

function failedBy(reason: string, rest: string): Result['finding'] {
  assert.ok(Object.hasOwn(reasons, reason), `unknown reason ${reason}`);
  const { advice } = reasons[reason as Reason];
  assert.ok(rest.endsWith(`. ${advice}`), `"${rest}" does not end with "${advice}"`);
  return failed(reason as Reason, rest.slice(0, -advice.length - 2));
}

/** A line about a check. Returns what it tells. */
export function assertSaid(line: string): Result {
  const result = read(line);
  assert.equal(sentenceOn(result), line);
  const said = `${result.profile}: ${nameOf(result.check, result.family)}: ${result.expected}`;
  assert.ok(expectations.has(said), `the program never expects this: ${said}`);
  return result;
}

const isVerdict = (line: string): boolean => line.startsWith('verdict: ');

/** Whether a block shows a log: one line that looks like the program's is enough. */
export function isLog(block: string): boolean {
  return block.split('\n').some((line) => isVerdict(line) || /^\S+: .*\bexpected .*; saw /.test(line));
}

/**
 * A whole log, or a part of one: each line is one that the program writes, and where a verdict ends it, it is the
 * verdict on the lines before it. Returns what the lines tell.
 */
export function assertLog(block: string): Result[] {
  const lines = block.split('\n');
  const results = lines.filter((line) => !isVerdict(line)).map(assertSaid);
  const verdicts = lines.filter(isVerdict);
  if (verdicts.length > 0) {
    assert.deepEqual(verdicts, lines.slice(-1), 'the verdict is the last line');
    const [verdict = ''] = verdicts;
    assert.equal(verdictOn(results.length > 0 ? results : [causeIn(verdict)], verdict), verdict);
  }
  return results;
}

/** The last line of a log with these results, with the time and the mode that the line tells. */
function verdictOn(results: Result[], line: string): string {
  return verdictSentence({
    ...verdictOf(results),
    warn: line.includes('proof.mode is warn'),
    sandbox: { netns: '4026532008', bootId: 'any' },
    seconds: Number(/ after ([\d.]+) s/.exec(line)?.[1]),
    results,
  });
}

/** The failure that a verdict without its log tells. */
function causeIn(line: string): Result {
  const [, profile = '', check, family, reason] =
    / s: (\S+) ([a-zA-Z]+) (IPv4|IPv6) ([a-z-]+)/.exec(line) ?? [];
  const finding = failed(reason as Reason, 'nothing');
  return { profile, check, family, expected: 'something', finding } as Result;
}
