import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from './harness/eventually.ts';

const runner = fileURLToPath(new URL('./run.ts', import.meta.url));
const wanted = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl', 'kwok'];

/** A Go that builds empty programs, at once or when it is let; what it does is told by its folder. */
class FakeGo {
  readonly folder = mkdtempSync(join(tmpdir(), 'go-'));
  readonly cache = join(this.folder, 'cache');

  constructor(build = 'for p in server kube-apiserver kube-scheduler; do touch "$into/$p"; done') {
    mkdirSync(join(this.folder, 'bin'));
    this.program(
      'bin/go',
      `echo "$*" >>${this.folder}/calls
case " $* " in
  *' env '*) echo go1.99 linux amd64 ;;
  *' list '*) echo v1.99.3 ;;
  *' build '*) while [ "$1" != -o ]; do shift; done; into=$2; ${build} ;;
esac`,
    );
  }

  /** Writes a shell script into the folder. */
  program(path: string, text: string): void {
    const file = join(this.folder, path);
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
  }

  /** How it was called to build. */
  get builds(): string[] {
    const calls = readFileSync(join(this.folder, 'calls'), 'utf8').split('\n');
    return calls.filter((call) => call.includes(' build '));
  }

  get cached(): string[] {
    return readdirSync(this.cache).filter((name) => !name.endsWith('.lock'));
  }

  /** Starts a run that says where it found the programs. */
  start(t: TestContext, environment: NodeJS.ProcessEnv = {}) {
    const { KUBEBUILDER_ASSETS: _, PATH = '', ...others } = process.env;
    const child = spawn(process.execPath, [runner, 'sh', '-c', 'echo "$CNI_GATE_PROGRAMS"'], {
      env: { ...others, PATH: `${this.folder}/bin:${PATH}`, CNI_GATE_CACHE: this.cache, ...environment },
    });
    t.after(() => child.kill('SIGKILL'));
    const said = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said.stderr += text;
    });
    const ended = once(child, 'close').then(([code]) => ({ code, ...said }));
    return { child, said, ended };
  }
}

test('programs are built once, with their version, and kept', async (t) => {
  const go = new FakeGo();
  const first = await go.start(t).ended;
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stderr, /^Building Kubernetes v1\.99\.3 from Go modules, once/);
  assert.equal(first.stdout.trim(), join(go.cache, go.cached[0] ?? ''));
  assert.deepEqual(readdirSync(first.stdout.trim()).toSorted(), ['etcd', 'kube-apiserver', 'kube-scheduler']);
  assert.match(
    go.builds[0] ?? '',
    /-X k8s\.io\/component-base\/version\.gitVersion=v1\.99\.3 .*gitMinor=99 /,
  );

  const second = await go.start(t).ended;
  assert.deepEqual(second, { code: 0, stdout: first.stdout, stderr: '' });
  assert.equal(go.builds.length, 1);
});

test('two runs at once build once', async (t) => {
  const go = new FakeGo('read -r _ <"$(dirname "$0")/../gate"; touch "$into/server"');
  const gate = join(go.folder, 'gate');
  execFileSync('mkfifo', [gate]);
  const first = go.start(t);
  await eventually(async () => assert.match(first.said.stderr, /Building/));
  const second = go.start(t);
  await eventually(async () =>
    assert.match(second.said.stderr, /Another run builds the programs; waiting for it/),
  );
  writeFileSync(gate, 'go on\n');
  const [one, other] = await Promise.all([first.ended, second.ended]);
  assert.equal(one.code, 0, one.stderr);
  assert.deepEqual([other.code, other.stdout], [0, one.stdout]);
  assert.equal(go.builds.length, 1);
});

test('a build that fails says why, and leaves nothing behind', async (t) => {
  const go = new FakeGo('touch "$into/server"; echo "no space left on device" >&2; exit 1');
  const { code, stdout, stderr } = await go.start(t).ended;
  assert.equal(code, 1);
  assert.equal(stdout, '');
  assert.match(stderr, /go build ended with 1:\nno space left on device/);
  assert.match(stderr, /NOT RUN: .*could not be built/);
  assert.deepEqual(go.cached, []);
});

test('a build that is killed is taken for no build, and its remains go with the next one', async (t) => {
  const go = new FakeGo(
    '[ -e "$0.killed" ] || { touch "$0.killed"; exec sleep 1000; }; touch "$into/server"',
  );
  const killed = go.start(t);
  await eventually(async () => assert.ok(existsSync(join(go.folder, 'bin', 'go.killed'))));
  killed.child.kill('SIGKILL');
  await killed.ended;
  const { code, stdout, stderr } = await go.start(t).ended;
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    go.cached.map((name) => join(go.cache, name)),
    [stdout.trim()],
  );
});

test('where there is neither Go nor KUBEBUILDER_ASSETS, it says what to do', async (t) => {
  const go = new FakeGo();
  const path = join(go.folder, 'no-go');
  mkdirSync(path);
  for (const command of ['unshare', 'ip']) {
    symlinkSync(execFileSync('which', [command], { encoding: 'utf8' }).trim(), join(path, command));
  }
  const { code, stdout, stderr } = await go.start(t, { PATH: path }).ended;
  assert.equal(code, 1);
  assert.equal(stdout, '');
  assert.match(stderr, /^NOT RUN: .*Install Go 1\.26 or later.*KUBEBUILDER_ASSETS.*\n.*ENOENT/);
});

test('KUBEBUILDER_ASSETS comes first, and needs no Go where it is complete', async (t) => {
  const go = new FakeGo('exit 1');
  mkdirSync(join(go.folder, 'assets'));
  for (const program of wanted) go.program(`assets/${program}`, '');
  const assets = join(go.folder, 'assets');
  const end = await go.start(t, { KUBEBUILDER_ASSETS: assets }).ended;
  assert.deepEqual(end, { code: 0, stdout: `${assets}\n`, stderr: '' });
});

test("envtest's three programs are joined with the others of the same minor, and with no other", async (t) => {
  const go = new FakeGo(
    'for p in server kube-scheduler; do printf "#!/bin/sh\\necho Kubernetes v1.99.3" >"$into/$p"; chmod +x "$into/$p"; done',
  );
  mkdirSync(join(go.folder, 'assets'));
  for (const program of ['etcd', 'kubectl']) go.program(`assets/${program}`, '');
  const assets = join(go.folder, 'assets');
  go.program('assets/kube-apiserver', 'echo Kubernetes v1.99.0');
  const joined = await go.start(t, { KUBEBUILDER_ASSETS: assets }).ended;
  assert.equal(joined.code, 0, joined.stderr);
  assert.match(joined.stderr, /has no kube-controller-manager, kube-scheduler, kwok: taken from the build/);
  assert.match(joined.stdout, new RegExp(`^${assets}:${go.cache}/`));

  go.program('assets/kube-apiserver', 'echo Kubernetes v1.98.0');
  const refused = await go.start(t, { KUBEBUILDER_ASSETS: assets }).ended;
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /NOT RUN: the API server is Kubernetes v1\.98\.0 and the scheduler Kubernetes v1\.99\.3/,
  );
});
