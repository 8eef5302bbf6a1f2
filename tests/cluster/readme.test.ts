import assert from 'node:assert/strict';
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { blocks } from '../support/pages.ts';
import { run } from '../support/run.ts';
import { programPath } from './binaries/ensure.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { pod, workload } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { runningPods, trusted } from './installed/installation.ts';
import { type RunningPod, startPod } from './installed/pod.ts';
import { deployment, initNames, makeNamespace, runningPod, type UserPod } from './installed/working.ts';

/* Runs the commands of README.md from top to bottom. `docker`, `helm` and the kubelet are stand-ins. */

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const found = blocks(readFileSync(join(checkout, 'README.md'), 'utf8'), 'console');
const reference = readFileSync(join(checkout, 'docs/reference/command-line.md'), 'utf8');
const [withoutCluster = ''] = reference.split('### Without a cluster\n')[1]?.split('### ') ?? [];
const [server = '', mutate = '', second = '', gate = ''] = blocks(withoutCluster, 'console');
const folder = mkdtempSync(join(tmpdir(), 'readme-'));
const image = 'registry.example/cni-gate-validator:0.1.0';

const cluster = await startCluster();
const replicas: RunningPod[] = [];
after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));

await Promise.all(['n1', 'n2'].map((name) => addNode(cluster, name)));
await makeNamespace(cluster, 'shop');
for (const [where, name] of [
  ['kube-system', 'cilium'],
  ['linkerd-cni', 'linkerd-cni'],
] as const) {
  if (where !== 'kube-system') await makeNamespace(cluster, where);
  await cluster.apply(workload('DaemonSet', name, { namespace: where }));
  await runningPod(cluster, where, name);
}
const { bin, work } = scratch();
const laptop = ['ip', 'netns', 'exec', 'laptop'];
await run('ip', ['netns', 'add', 'laptop']);
await run('ip', ['-n', 'laptop', 'link', 'set', 'lo', 'up']);

suite('the commands of README.md, from top to bottom', () => {
  let next = 0;
  /** Returns the next block of README.md, which has to match `about`. */
  const block = (about: RegExp): string => {
    const text = found[next] ?? '';
    assert.match(text, about, `block ${next + 1} of README.md has changed: update this test`);
    next += 1;
    return text;
  };

  test('quick start: CI runs the same commands', () => {
    const ci = readFileSync(join(checkout, '.ci/run'), 'utf8').split('\n');
    for (const command of block(/npm test/).split(/\n| && /)) {
      assert.ok(ci.includes(command), `.ci/run does not run \`${command}\``);
    }
  });

  for (const [what, env] of [
    ['an image that cannot be built', { DOCKER_FAILS: 'yes' }],
    ['an installation whose pods do not become ready', { ROLLOUT_FAILS: 'yes' }],
  ] as const)
    test(`${what} leaves the namespace without its label`, async () => {
      const { code } = await bash(found[next] ?? '', { env });
      assert.notEqual(code, 0);
      await notOptedIn();
      await cluster.api.post('/api/v1/namespaces/shop/pods?dryRun=All', pod('web'));
      await cluster.kubectl(['delete', 'namespace', 'cni-gate', '--ignore-not-found']);
    });

  test('the installation refuses no pod, and the next pod gets the proof', async () => {
    const ready = runReplicas();
    const { code, output, errors } = await bash(block(/kubectl label namespace shop/));
    await ready;
    assert.equal(code, 0, output + errors);
    assert.match(output, /namespace\/shop labeled/);
    const stored = await cluster.api.post<UserPod>('/api/v1/namespaces/shop/pods', pod('web'));
    assert.deepEqual(initNames(stored), [validatorContainer]);
    assert.equal(stored.spec.initContainers?.[0]?.image, image);
  });

  test('permissive first, then strict: only then are pods refused while no replica answers', async () => {
    assert.equal(await failurePolicy(), 'Ignore');
    const { code, output, errors } = await bash(block(/overlays\/strict/), {
      env: { REGISTRY: 'registry.example' },
    });
    assert.equal(code, 0, output + errors);
    assert.equal(await failurePolicy(), 'Fail');
  });

  test('check and status pass once a replica leads, and the pod from the time of permissive is recreated', async () => {
    await Promise.all(replicas.map((replica) => replica.refresh()));
    await eventually(async () => {
      await cluster.kubectl(['-n', 'shop', 'delete', 'pod', 'web', '--now', '--ignore-not-found']);
      const { spec } = await cluster.api.post<UserPod>('/api/v1/namespaces/shop/pods', pod('web'));
      assert.doesNotMatch(JSON.stringify(spec.initContainers), /CNI_GATE_MODE/);
    });
    const commands = block(/cni-gate check\n.*status/);
    await eventually(async () => {
      const { code, output, errors } = await bash(commands);
      assert.equal(code, 0, output + errors);
      assert.equal(output.match(/^All \d+ checks passed\.$/gm)?.length, 2);
    }, 60);
  });

  test('review of the examples, and of a chart', async () => {
    const examples = await bash(block(/review -f examples/));
    assert.equal(examples.code, 0, examples.errors);
    assert.match(examples.output, new RegExp(validatorContainer));
    assert.match(readFileSync(join(work, 'cni-gate.xml'), 'utf8'), /<testsuite/);
    const chart = await bash(block(/helm template/));
    assert.equal(chart.code, 0, chart.errors);
    assert.match(chart.output, new RegExp(validatorContainer));
  });

  test('a server in one terminal, and a call from another', async () => {
    await serve(server, 8080);
    const { code, output, errors } = await bash(mutate, { local: true });
    assert.equal(code, 0, output + errors);
    const { response } = JSON.parse(output);
    assert.equal(response.allowed, true);
    assert.match(Buffer.from(response.patch, 'base64').toString(), new RegExp(validatorContainer));
  });

  test('a second server beside it refuses a binding', async () => {
    await serve(second, 8081);
    const { code, output, errors } = await bash(gate, { local: true });
    assert.equal(code, 0, output + errors);
    const { response } = JSON.parse(output);
    assert.equal(response.allowed, false);
    assert.equal(response.status.code, 403);
  });

  test('README.md has no other commands', () => assert.deepEqual(found.slice(next), []));
});

async function notOptedIn(): Promise<void> {
  const { metadata } = await cluster.api.get<{ metadata: { labels?: Record<string, string> } }>(
    '/api/v1/namespaces/shop',
  );
  assert.equal(metadata.labels?.[profileLabel], undefined);
}

/** What the API server does with a pod while no replica answers: `Fail` or `Ignore`. */
async function failurePolicy(): Promise<string> {
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/cni-gate';
  const { webhooks } = await cluster.api.get<{ webhooks: { failurePolicy: string }[] }>(path);
  return webhooks[0]?.failurePolicy ?? '';
}

/** Makes a folder of stand-ins for programs, and a writable folder that looks like the checkout. */
function scratch(): { bin: string; work: string } {
  const [programs, copy] = [join(folder, 'bin'), join(folder, 'work')];
  for (const path of [programs, copy]) mkdirSync(path);
  for (const name of readdirSync(checkout)) symlinkSync(join(checkout, name), join(copy, name));
  writeFileSync(join(folder, 'chart.json'), JSON.stringify(deployment('web')));
  const kubectl = programPath('kubectl');
  const standIns = {
    docker: '[ -z "$DOCKER_FAILS" ]',
    helm: `cat ${folder}/chart.json`,
    // here a pod is Ready as soon as it runs, whereas a kubelet waits for the readiness probe
    kubectl: `if [ "$3 $4" = "rollout status" ] && [ "$5" = deployment/cni-gate ]; then
  [ -z "$ROLLOUT_FAILS" ] || exit 1
  until [ -e ${folder}/serving ]; do sleep 0.1; done
fi
exec ${kubectl} "$@"`,
  };
  for (const [name, script] of Object.entries(standIns)) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(programs, name), 0o755);
  }
  return { bin: programs, work: copy };
}

async function runReplicas(): Promise<void> {
  const pods = await eventually(() => runningPods(cluster, 2));
  replicas.push(...(await Promise.all(pods.map((one) => startPod(cluster, one)))));
  await trusted(cluster);
  writeFileSync(join(folder, 'serving'), '');
}

/** The environment and the network in which a command runs. */
interface Terminal {
  env?: Record<string, string>;
  /** Whether the command runs in the network namespace of the user's machine instead of the cluster's. */
  local?: boolean;
}

function start(commands: string, terminal: Terminal, stdio: StdioOptions): ChildProcess {
  const { env, local = false } = terminal;
  const [program = '', ...args] = [...(local ? laptop : []), 'bash', '-c', commands];
  return spawn(program, args, {
    cwd: work,
    stdio,
    env: {
      ...process.env,
      npm_config_loglevel: 'error',
      KUBECONFIG: cluster.admin.kubeconfig,
      ...env,
      PATH: `${bin}:${process.env.PATH}`,
    },
  });
}

async function bash(
  commands: string,
  terminal: Terminal = {},
): Promise<{ code: number | null; output: string; errors: string }> {
  const child = start(commands, terminal, ['ignore', 'pipe', 'pipe']);
  let [output, errors] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const [code] = await once(child, 'close');
  return { code, output, errors };
}

async function serve(command: string, opsPort: number): Promise<void> {
  // the servers end with the runner's namespaces
  start(`exec ${command}`, { local: true }, 'ignore').unref();
  await eventually(async () => {
    const { output } = await bash(`curl -s http://localhost:${opsPort}/readyz`, { local: true });
    assert.equal(output.trim(), 'ok');
  });
}
