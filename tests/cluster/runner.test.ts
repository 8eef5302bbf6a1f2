import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from './harness/eventually.ts';

const runner = fileURLToPath(new URL('./run.ts', import.meta.url));
const interactive = fileURLToPath(new URL('./interactive.ts', import.meta.url));
const someTest = fileURLToPath(new URL('./start.test.ts', import.meta.url));

interface Run {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  /** Once the whole run has said this. */
  said(text: string): Promise<void>;
  /** The exit code or the signal. */
  ended: Promise<number | NodeJS.Signals>;
}

/** A run inside this one; it does not outlive its test. */
function start(
  t: TestContext,
  command: string,
  args: string[],
  environment: NodeJS.ProcessEnv = process.env,
): Run {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environment });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text;
    });
  }
  const said = async (text: string): Promise<void> => {
    while (!output.stdout.includes(text)) {
      assert.equal(child.exitCode, null, output.stderr);
      await once(child.stdout, 'data');
    }
  };
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  t.after(() => child.kill('SIGKILL'));
  return { child, output, said, ended };
}

const run = (t: TestContext, ...command: string[]): Run => start(t, process.execPath, [runner, ...command]);

/** Names of the programs that run, of those whose folder in /proc is looked for. */
function programsWhere(wanted: (folder: string) => boolean): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((id) => {
      try {
        return wanted(`/proc/${id}`) ? [readFileSync(`/proc/${id}/comm`, 'utf8').trim()] : [];
      } catch {
        return []; // gone meanwhile
      }
    });
}

/** Programs in PID namespaces below this one: those of runs inside this one. */
function below(): string[] {
  const own = readlinkSync('/proc/self/ns/pid');
  return programsWhere((folder) => readlinkSync(`${folder}/ns/pid`) !== own);
}

test('nothing is left of a control plane when the runner is killed', async (t) => {
  const { child, said, ended } = run(t, process.execPath, interactive);
  await said('Enter it from another terminal');
  const running = below();
  for (const name of ['etcd', 'kube-apiserver', 'kube-scheduler', 'kwok']) {
    assert.ok(running.includes(name), `${name} is not among ${running}`);
  }
  child.kill('SIGKILL');
  assert.equal(await ended, 'SIGKILL');
  await eventually(async () => assert.deepEqual(below(), []));
});

test('a control plane does not outlive the process that started it', async (t) => {
  const module = new URL('./harness/cluster.ts', import.meta.url);
  const script = `import { Cluster } from '${module}'; console.log((await Cluster.start()).folder, 'is up')`;
  const { child, output, said, ended } = start(t, process.execPath, ['--input-type=module', '-e', script]);
  await said('is up');
  const folder = output.stdout.split(' ')[0] ?? '';
  const running = (): string[] =>
    programsWhere((process) => readFileSync(`${process}/cmdline`, 'utf8').includes(folder));
  assert.ok(running().includes('etcd'));
  child.kill('SIGKILL');
  await ended;
  await eventually(async () => assert.deepEqual(running(), []));
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal} ends a run, with all that it started`, async (t) => {
    const { child, said, ended } = run(t, 'sh', '-c', 'setsid sleep 1000 & echo ready; wait');
    await said('ready');
    await eventually(async () => assert.ok(below().includes('sleep')));
    child.kill(signal);
    assert.equal(await ended, signal);
    assert.deepEqual(below(), []);
  });
}

test('a run ends as its command does, and what that left running ends too', async (t) => {
  const { said, ended } = run(t, 'sh', '-c', 'setsid sleep 1000 & echo ready; exit 7');
  await said('ready');
  assert.equal(await ended, 7);
  assert.deepEqual(below(), []);
});

test('a run has a network of its own, with a loopback and nothing else', async (t) => {
  const { output, ended } = run(t, 'sh', '-c', 'readlink /proc/self/ns/net; ip -oneline link');
  assert.equal(await ended, 0);
  const [namespace, ...links] = output.stdout.trim().split('\n');
  assert.notEqual(namespace, readlinkSync('/proc/self/ns/net'));
  assert.equal(links.length, 1);
  assert.match(links[0] ?? '', /: lo: <LOOPBACK,UP/);
});

test('logs are kept after a failure, and only then', async (t) => {
  const write = 'mkdir -p $TMPDIR/cluster-x/log; echo why > $TMPDIR/cluster-x/log/etcd.log';
  const good = run(t, 'sh', '-c', write);
  assert.equal(await good.ended, 0);
  assert.doesNotMatch(good.output.stderr, /Logs/);
  const bad = run(t, 'sh', '-c', `${write}; exit 1`);
  assert.equal(await bad.ended, 1);
  const folder = /Logs of the components: (\S+)/.exec(bad.output.stderr)?.[1] ?? '';
  assert.equal(readFileSync(join(folder, 'cluster-x', 'etcd.log'), 'utf8'), 'why\n');
});

test('a machine that gives no namespaces is told, and nothing is run', async (t) => {
  const powerless = ['--bounding-set=-all', '--inh-caps=-all', '--', process.execPath, runner, 'echo', 'ran'];
  const { output, ended } = start(t, 'setpriv', powerless);
  assert.equal(await ended, 1);
  assert.match(output.stderr, /^NOT RUN: .*Linux, root.*\n.*unshare.*\n.*Operation not permitted/);
  assert.equal(output.stdout, '');
});

test('a test outside the runner fails, and says how to run it', async (t) => {
  const { CNI_GATE_PROGRAMS: _, NODE_TEST_CONTEXT: __, ...environment } = process.env;
  const { output, ended } = start(t, process.execPath, ['--test', someTest], environment);
  assert.equal(await ended, 1);
  assert.match(output.stdout, /NOT RUN: .*npm run test:cluster/);
});
