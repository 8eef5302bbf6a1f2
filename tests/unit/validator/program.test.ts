import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { env } from '../../../validator/shared/contract.ts';

const main = fileURLToPath(new URL('../../../validator/main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
after(() => rmSync(folder, { recursive: true }));

interface Ended {
  code: number | null;
  log: string;
  complaints: string;
  message: {
    verdict: string;
    code: number;
    mode?: string;
    seconds: number;
    problem?: string;
    sandbox: object;
    checks: object[];
  };
}

type Environment = Record<string, string>;

/** Runs the program. None of the checks here sends anything: proofs belong into network namespaces of their own. */
async function runs(
  environment: Environment,
  {
    args = ['validate'],
    flags = [],
    signal,
  }: { args?: string[]; flags?: string[]; signal?: NodeJS.Signals } = {},
): Promise<Ended> {
  const terminationLog = join(folder, `${Math.random()}`);
  const more = args[0] === 'validate' && args.length === 1 ? ['--termination-log', terminationLog] : [];
  const child = spawn(process.execPath, [...flags, main, ...args, ...more], {
    env: { PATH: process.env.PATH, [env.podIPs]: '10.9.0.2', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  let complaints = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text;
    if (signal) child.kill(signal);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const [code] = await once(child, 'close');
  const message = more.length > 0 ? readFileSync(terminationLog, 'utf8') : '{}';
  return { code, log, complaints, message: JSON.parse(message) };
}

const interfaces = (timeout: string): object => ({ profile: 'multus', interfaces: { timeout } });
/** Settled at once, without a look at the network. */
const wrongUser = {
  profile: 'istio',
  redirect: {
    direction: 'inbound',
    listen: 15006,
    connect: ['127.0.0.6:15002'],
    asUser: (process.getuid?.() ?? 0) + 1,
    timeout: '1s',
  },
};
const checks = (...list: object[]): Environment => ({ [env.checks]: JSON.stringify(list) });
const missing = { [env.networks]: 'nowhere@no-such-if0', [env.podNamespace]: 'apps' };

test('proved: exit 0, a sentence, a verdict and a message with the sandbox', async () => {
  const { code, log, complaints, message } = await runs(checks(interfaces('1s')));
  assert.equal(code, 0);
  assert.match(
    log,
    /^multus: interfaces passed: .*\nverdict: proved \(0\) after \d+\.\d{3} s, with a note on multus interfaces\.\n$/,
  );
  assert.equal(complaints, '');
  assert.equal(message.verdict, 'proved');
  const [, seconds] = /after ([\d.]+) s\b/.exec(log) ?? [];
  assert.equal(message.seconds, Number(seconds));
  assert.ok(message.seconds > 0, 'a process takes some milliseconds to start');
  assert.deepEqual(Object.keys(message.sandbox), ['netns', 'bootId']);
});

test('failed: exit 95 and the reason', async () => {
  const { code, log, message } = await runs({ ...checks(interfaces('100ms')), ...missing });
  assert.equal(code, 95);
  assert.match(log, /interface-missing/);
  assert.equal(message.code, 95);
});

test('unproved: exit 69; a failed check takes precedence', async () => {
  assert.equal((await runs(checks(wrongUser))).code, 69);
  assert.equal((await runs({ ...checks(wrongUser, interfaces('100ms')), ...missing })).code, 95);
});

test('warn: the failure is reported, exit 0', async () => {
  const { code, log, message } = await runs({ ...checks(wrongUser), [env.mode]: 'warn' });
  assert.equal(code, 0);
  assert.match(log, /wrong-user[\s\S]*verdict: unproved \(69\)[\s\S]*proof\.mode is warn/);
  assert.equal(message.mode, 'warn');
  assert.equal(message.code, 69);
});

test('an unknown mode is not warn', async () => {
  assert.equal((await runs({ ...checks(wrongUser), [env.mode]: 'relaxed' })).code, 69);
});

test('wrong usage: exit 64, and the message says what', async () => {
  const { code, message } = await runs({ [env.checks]: '[{"profile":"a","teleport":{}}]' });
  assert.equal(code, 64);
  assert.equal(message.verdict, 'wrong-usage');
  assert.match(message.problem ?? '', /unknown check teleport/);
  assert.equal((await runs({})).code, 64);
  const unknown = await runs(checks(wrongUser), { args: ['serve'] });
  assert.equal(unknown.code, 64);
  assert.match(
    unknown.log,
    /expected the command validate, got serve; usage: validate \[--termination-log <path>\]/,
  );
});

test("the pod's values cannot add lines to the log", async () => {
  const forged = 'verdict: proved (0) after 0.050 s.';
  const networks = JSON.stringify([
    { name: `a\n${forged}\r${forged}\u2028\u001b[2K`, interface: 'no-such-if0' },
  ]);
  const { code, log } = await runs({ ...checks(interfaces('100ms')), [env.networks]: networks });
  assert.equal(code, 95);
  assert.equal(log.split(/[\p{Cc}\p{Zl}]/u).length, 3, log);
  assert.match(log, /a\\u000averdict: proved/);
});

test('an unwritable termination log is only reported', async () => {
  const args = ['validate', '--termination-log', join(folder, 'no', 'such', 'folder')];
  const { code, complaints } = await runs(checks(interfaces('1s')), { args });
  assert.equal(code, 0);
  assert.match(complaints, /cannot write the termination message/);
});

test('an unexpected error is a defect, with a verdict and a message', async () => {
  const source = 'setTimeout(() => { throw new Error("a hole"); }, 1)';
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(source)}`];
  const { code, log, message } = await runs({ ...checks(interfaces('1m')), ...missing }, { flags });
  assert.equal(code, 69, log);
  assert.equal(message.verdict, 'unproved');
  assert.match(message.problem ?? '', /a defect of the validator: Error: a hole/);
});

for (const [signal, expected] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)
  test(`${signal}: exit ${expected}, verdict stopped`, async () => {
    const { code, log, message } = await runs(
      { ...checks(wrongUser, interfaces('1m')), ...missing },
      { signal },
    );
    assert.equal(code, expected);
    assert.match(log, /verdict: stopped .*still open: multus interfaces/);
    assert.equal(message.verdict, 'stopped');
    assert.equal(message.checks.length, 1);
  });
