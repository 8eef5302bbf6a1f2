import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { env } from '../../validator/shared/contract.ts';
import { validator } from './harness/proof.ts';

/* How the program handles its command line, its environment and signals. No test sends packets out of the machine. */

/** `npm run suite arm64` sets the program for another architecture, preceded by an emulator. */
const [program = validator, ...emulated] = process.env.CNI_GATE_TEST_HOST?.split(' ') ?? [];
const folder = mkdtempSync(join(tmpdir(), 'cni-gate-program-'));
after(() => rmSync(folder, { recursive: true }));

interface Start {
  environment?: Record<string, string | undefined>;
  args?: string[];
  signal?: NodeJS.Signals;
}

interface Ended {
  code: number | null;
  log: string;
  complaints: string;
  message: string;
}

async function run({ environment, args, signal }: Start): Promise<Ended> {
  const path = join(folder, `${Math.random()}`);
  const child = spawn(program, [...emulated, ...(args ?? ['validate', '--termination-log', path])], {
    env: { [env.podIPs]: '10.9.0.2', ...environment },
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
  return { code, log, complaints, message: args === undefined ? readFileSync(path, 'utf8') : '' };
}

const interfaces = (timeout: string): object => ({ profile: 'multus', interfaces: { timeout } });
const reach = (host: string): object => ({ profile: 'db', reach: { host, port: 9, timeout: '300ms' } });
const checks = (...list: object[]): Record<string, string | undefined> => ({
  [env.checks]: JSON.stringify(list),
});
const missing = { [env.networks]: 'nowhere@no-such-if0', [env.podNamespace]: 'apps' };
/** A check that fails immediately, without using the network. */
const wrongUser = {
  profile: 'istio',
  redirect: { direction: 'inbound', listen: 15006, connect: ['127.0.0.6:15002'], asUser: 1, timeout: '1s' },
};
const usage = /; usage: validate \[--termination-log <path>\]\.\n$/;
const unwritable = (path: string): Start => ({
  environment: checks(interfaces('1s')),
  args: ['validate', '--termination-log', path],
});
/** How many bytes the value of CNI_GATE_CHECKS may have: the kernel's limit is `MAX_ARG_STRLEN`, 32 pages. */
const longest = 131_071 - `${env.checks}=`.length;

const cases: [what: string, start: Start, code: number, log: RegExp, complaints?: RegExp][] = [
  ['help', { args: ['validate', '--help'] }, 0, /^usage: validate .*\n\nRuns the checks/],
  ['no command', { args: [] }, 64, /expected the command validate, got none/],
  ['another command', { args: ['serve'] }, 64, /expected the command validate, got serve/],
  ['an unknown option', { args: ['validate', '--verbose'] }, 64, /unknown argument --verbose/],
  ['an option without a value', { args: ['validate', '--termination-log'] }, 64, usage],
  ['no checks', {}, 64, /CNI_GATE_CHECKS is not set/],
  ['no JSON', { environment: { [env.checks]: '[{\u0007\ud83d\ude00' } }, 64, /is not JSON: it begins with/],
  ['a value that is not a list', { environment: { [env.checks]: '"text"' } }, 64, /is not a list of checks/],
  [
    'JSON nested deeper than a JavaScript engine parses',
    { environment: { [env.checks]: '['.repeat(longest) } },
    64,
    /is not/,
  ],
  [
    'a check with the name of a property that every JavaScript object has',
    { environment: { [env.checks]: '[{"profile":"a","__proto__":{"timeout":"1s"}}]' } },
    64,
    /unknown check __proto__/,
  ],
  [
    'a proof',
    { environment: checks(interfaces('1s')) },
    0,
    /^multus: interfaces passed: .*\nverdict: passed \(0\) after \d+\.\d{3} s, with a note on multus interfaces\.\n$/,
  ],
  ['a failure', { environment: { ...checks(interfaces('100ms')), ...missing } }, 95, /interface-missing/],
  ['a check that cannot be made', { environment: checks(wrongUser) }, 69, /verdict: not-possible \(69\)/],
  [
    'a failure, and a check that cannot be made: the failure takes precedence',
    { environment: { ...checks(wrongUser, interfaces('100ms')), ...missing } },
    95,
    /wrong-user/,
  ],
  [
    'a check that cannot be made, in warn mode',
    { environment: { ...checks(wrongUser), [env.mode]: 'warn' } },
    0,
    /wrong-user[\s\S]*verdict: not-possible \(69\)[\s\S]*proof\.mode is warn/,
  ],
  ['an unknown mode', { environment: { ...checks(wrongUser), [env.mode]: 'relaxed' } }, 69, /wrong-user/],
  [
    'an unreadable list of networks',
    { environment: { ...checks(interfaces('1s')), [env.networks]: '[{' } },
    69,
    /networks-unreadable/,
  ],
  ['a port without a listener', { environment: checks(reach('127.0.0.1')) }, 95, /connect-refused/],
  ['no listener, by a name', { environment: checks(reach('localhost')) }, 95, /connect-refused/],
  ['a host with a blank', { environment: checks(reach('a b')) }, 95, /name-unknown/],
  ['a termination log in no folder', unwritable('/no/such/folder'), 0, /passed/, /cannot write .* ENOENT/],
  ['a termination log on a full disk', unwritable('/dev/full'), 0, /passed/, /cannot write .* ENOSPC/],
];

describe('the program', { concurrency: 2 }, () => {
  for (const [what, start, code, log, complaints = /^$/] of cases) {
    test(`${what}: exit ${code}`, async () => {
      const ended = await run(start);
      assert.equal(ended.code, code, ended.log + ended.complaints);
      assert.match(ended.log, log);
      assert.match(ended.complaints, complaints);
    });
  }

  test('the message: the verdict of the log, and the sandbox', async () => {
    const { log, message } = await run({ environment: { ...checks(wrongUser), [env.mode]: 'warn' } });
    const { verdict, code, mode, seconds, sandbox } = JSON.parse(message);
    assert.deepEqual([verdict, code, mode], ['not-possible', 69, 'warn']);
    assert.equal(seconds, Number(/after ([\d.]+) s\b/.exec(log)?.[1]));
    assert.ok(seconds > 0, 'a process takes some milliseconds to start');
    assert.deepEqual(Object.keys(sandbox), ['netns', 'bootId']);
  });

  test('the message of wrong usage says what is wrong', async () => {
    const { message } = await run({ environment: checks({ profile: 'a', teleport: {} }) });
    const { verdict, problem } = JSON.parse(message);
    assert.equal(verdict, 'wrong-usage');
    assert.match(problem, /unknown check teleport/);
  });

  const signals = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    test(`${signal}: exit ${signals[signal]}, verdict stopped`, async () => {
      const environment = { ...checks(wrongUser, interfaces('1m')), ...missing };
      const { code, log, message } = await run({ environment, signal });
      assert.equal(code, signals[signal]);
      assert.match(log, /verdict: stopped .*arrived before the verdict/);
      const { verdict, checks: reported } = JSON.parse(message);
      assert.deepEqual([verdict, reported.length], ['stopped', 1]);
    });
  }
});

/* A container from a server of another release. Names are literals, because that release does not use our constants. */
for (const [what, more] of [
  [
    'all that release 0.1.0 injects is read',
    {
      CNI_GATE_MODE: 'warn',
      CNI_GATE_POD_IPS: '10.9.0.2,fd00::2',
      CNI_GATE_POD_NAMESPACE: 'apps',
      CNI_GATE_NETWORKS: '',
      CNI_GATE_NETWORK_STATUS_FILE: '/run/cni-gate/network-status',
    },
  ],
  ['fewer variables: what a check does not need may be absent', {}],
] as const)
  test(what, async (t) => {
    const server = createServer().listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const reach = { host: '127.0.0.1', port, timeout: '10s' };
    const CNI_GATE_CHECKS = JSON.stringify([{ profile: 'db', reach }]);
    const environment = { CNI_GATE_CHECKS, CNI_GATE_POD_IPS: undefined, ...more };
    const { code, log, message } = await run({ environment });
    assert.equal(code, 0, log);
    assert.equal(JSON.parse(message).verdict, 'passed');
  });
