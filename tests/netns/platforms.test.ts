import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { env } from '../../validator/shared/contract.ts';

/* Both platforms on what comes from the command line, the environment and signals. The proof table has the networks. */

const inDist = (path: string): string => fileURLToPath(new URL(`../../dist/${path}`, import.meta.url));
/** `npm run suite arm64` names the host for another architecture, behind the emulator that runs it. */
const [host = inDist('host/cni-gate-validator'), ...emulated] =
  process.env.CNI_GATE_TEST_HOST?.split(' ') ?? [];
const programs: [program: string, ...args: string[]][] = [
  [host, ...emulated],
  [process.execPath, inDist('validator/main.js')],
];
const folder = mkdtempSync(join(tmpdir(), 'cni-gate-platforms-'));
after(() => rmSync(folder, { recursive: true }));

interface Start {
  environment?: Record<string, string>;
  args?: string[];
  /** Sent when the first line of the log appears. */
  signal?: NodeJS.Signals;
}

/** What a program says, without times. */
async function saidBy([program, ...first]: [string, ...string[]], start: Start): Promise<object> {
  const message = join(folder, `${Math.random()}`);
  const args = start.args ?? ['validate', '--termination-log', message];
  const child = spawn(program, [...first, ...args], {
    env: { [env.podIPs]: '10.9.0.2', ...start.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  let complaints = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text;
    if (start.signal) child.kill(start.signal);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const [code, signal] = await once(child, 'close');
  const written = start.args === undefined ? readFileSync(message, 'utf8') : '';
  return {
    code,
    signal,
    log: log.replace(/ after \d+\.\d{3} s/g, ' after … s'),
    complaints,
    message: written.replace(/"seconds":[\d.]+/, '"seconds":0'),
  };
}

const interfaces = (timeout: string, profile = 'multus'): object => ({ profile, interfaces: { timeout } });
const reach = (host: string): object => ({ profile: 'db', reach: { host, port: 9, timeout: '300ms' } });
const checks = (...list: object[]): Record<string, string> => ({ [env.checks]: JSON.stringify(list) });
const missing = { [env.networks]: 'nowhere@no-such-if0', [env.podNamespace]: 'apps' };
const wrongUser = {
  profile: 'istio',
  redirect: { direction: 'inbound', listen: 15006, connect: ['127.0.0.6:15002'], asUser: 1, timeout: '1s' },
};
/** The kernel takes no longer variable: `MAX_ARG_STRLEN`, 32 pages. */
const longest = 131_071 - `${env.checks}=`.length;

const cases: Record<string, Start> = {
  help: { args: ['validate', '--help'] },
  'no command': { args: [] },
  'an unknown option': { args: ['validate', '--verbose'] },
  'no checks': {},
  'no JSON': { environment: { [env.checks]: '[{\u0007\ud83d\ude00' } },
  'a value that is no list': { environment: { [env.checks]: '"text"' } },
  'an unknown check': { environment: checks({ profile: 'a', teleport: {} }) },
  'a key of every object': {
    environment: { [env.checks]: '[{"profile":"a","__proto__":{"timeout":"1s"}}]' },
  },
  'a proof': { environment: checks(interfaces('1s')) },
  'a failure': { environment: { ...checks(interfaces('100ms')), ...missing } },
  'a failure that is only reported': { environment: { ...checks(wrongUser), [env.mode]: 'warn' } },
  'a name with half of a surrogate pair': {
    environment: {
      ...checks(interfaces('100ms')),
      [env.networks]: '[{"name":"a\\ud800\\u0000\\n\\u2028\ud83d\ude00"}]',
    },
  },
  'an unreadable list of networks': { environment: { ...checks(interfaces('1s')), [env.networks]: '[{' } },
  'a thousand checks, whose message is shortened': {
    environment: {
      ...checks(...Array.from({ length: 1000 }, (_, n) => interfaces('0ms', `p${n}`))),
      ...missing,
    },
  },
  'the longest list that the kernel allows': {
    environment: { [env.checks]: `[{"profile":"${'é'.repeat((longest - 60) / 2)}","teleport":{}}]` },
  },
  'a termination log in no folder': {
    environment: checks(interfaces('1s')),
    args: ['validate', '--termination-log', '/no/such/folder'],
  },
  'a termination log that is a folder': {
    environment: checks(interfaces('1s')),
    args: ['validate', '--termination-log', '/proc'],
  },
  'a termination log below a file': {
    environment: checks(interfaces('1s')),
    args: ['validate', '--termination-log', '/proc/version/log'],
  },
  'a termination log on a full disk': {
    environment: checks(interfaces('1s')),
    args: ['validate', '--termination-log', '/dev/full'],
  },
  'a port without a listener': { environment: checks(reach('127.0.0.1')) },
  'the same by a name': { environment: checks(reach('localhost')) },
  'the same by a name in upper case': { environment: checks(reach('LOCALHOST')) },
  'a name that is none': { environment: checks(reach('a b')) },
};

describe('the host and Node say the same', { concurrency: 2 }, () => {
  for (const [name, start] of Object.entries(cases)) {
    test(name, async () => {
      const [native, node] = await Promise.all(programs.map((program) => saidBy(program, start)));
      assert.deepEqual(native, node);
    });
  }

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    test(signal, async () => {
      const environment = { ...checks(wrongUser, interfaces('1m')), ...missing };
      const [native, node] = await Promise.all(
        programs.map((program) => saidBy(program, { environment, signal })),
      );
      assert.deepEqual(native, node);
    });
  }
});

test('nested deeper than an engine reads: wrong usage or unproved, never a crash', async () => {
  for (const program of programs) {
    const environment = { [env.checks]: '['.repeat(longest) };
    const { code, signal } = (await saidBy(program, { environment })) as { code: number; signal: null };
    assert.deepEqual([code, signal], [64, null]);
  }
});
