import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';

/* Of the runner only that without which a run could be green for the wrong reason: its exit code and its isolation. */

const runner = fileURLToPath(new URL('./run.ts', import.meta.url));
const suite = fileURLToPath(new URL('./suite/main.ts', import.meta.url));
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

/** Names of the programs in PID namespaces below this one: those of runs inside this one. */
function below(): string[] {
  const own = readlinkSync('/proc/self/ns/pid');
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((id) => {
      try {
        const isOther = readlinkSync(`/proc/${id}/ns/pid`) !== own;
        return isOther ? [readFileSync(`/proc/${id}/comm`, 'utf8').trim()] : [];
      } catch {
        return []; // it has ended
      }
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
  assert.match(output.stdout, /NOT RUN: .*npm run suite cluster/);
});

test('the suite runs files that failed once more, and a file that fails twice fails it', async (t) => {
  // a run has another /run, where temporary files are here
  const folder = mkdtempSync('/tmp/suite-');
  t.after(() => rmSync(folder, { recursive: true }));
  const outcomes = {
    passes: 'assert.ok(true)',
    'fails-once': `mkdirSync('${folder}/seen', { recursive: true }) === undefined || assert.fail('the first time')`,
    fails: "assert.fail('each time')",
    crashes: "setTimeout(() => process.kill(process.pid, 'SIGKILL')); await new Promise(() => {})",
  };
  const files = Object.entries(outcomes).map(([name, statement]) => {
    const file = join(folder, `${name}.test.mjs`);
    const imports = "import assert from 'node:assert/strict';\nimport { mkdirSync } from 'node:fs';";
    writeFileSync(
      file,
      `${imports}\nimport { test } from 'node:test';\ntest('it', async () => { ${statement}; });\n`,
    );
    return file;
  });
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const environment = { ...inherited, TMPDIR: folder, CNI_GATE_SHARED: 'none' };
  const of = async (...some: (string | undefined)[]) => {
    const one = start(t, process.execPath, [suite, ...some.map(String)], environment);
    return { code: await one.ended, text: one.output.stdout };
  };
  const [passes, once, ...fail] = files;
  const all = await of(passes, once, ...fail);
  assert.equal(all.code, 1);
  assert.ok(
    all.text.includes(
      `== passed only the second time:\n${once}\n== failed both times:\n${fail.join('\n')}\n`,
    ),
  );
  rmSync(join(folder, 'seen'), { recursive: true });
  assert.equal((await of(passes, once)).code, 0);
});
