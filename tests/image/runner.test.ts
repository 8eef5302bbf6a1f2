import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../cluster/harness/eventually.ts';
import { baseImages } from './dockerfile.ts';

/* On the machine, not in the runner: what the runner does to the machine. */

/** Nothing is pulled before it is needed, and nothing is needed. */
const withoutImages = { CNI_GATE_PULL_IMAGES: '1' };
const runner = fileURLToPath(new URL('./run.ts', import.meta.url));

function start(t: TestContext, script: string, environment: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [runner, 'sh', '-c', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  t.after(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (data) => {
    text += data;
  });
  return { child, said: () => text };
}

/** Programs of a run that are alive, by a variable in their environment; containers, by their control group. */
function programsOf(pid: number): string[] {
  const group = `cni-gate-image-${pid}`;
  return globSync('/proc/[0-9]*').flatMap((process) => {
    try {
      const environment = readFileSync(join(process, 'environ'), 'utf8');
      const groups = readFileSync(join(process, 'cgroup'), 'utf8');
      if (!environment.includes(`=/${group}\0`) && !groups.includes(`/${group}/`)) return [];
      return readFileSync(join(process, 'comm'), 'utf8').trim();
    } catch {
      return []; // it has ended
    }
  });
}

const groupsOf = (pid: number): string[] => globSync(`/sys/fs/cgroup/{*/,}cni-gate-image-${pid}`);

test('a run that is killed leaves no process, and the next one removes its control groups', async (t) => {
  const container = `docker run --detach ${baseImages()[0]} tail -f /dev/null`;
  const { child, said } = start(t, `${container}; echo started; sleep 1000`);
  await eventually(async () => assert.match(said(), /started/), 120);
  const pid = child.pid ?? 0;
  const programs = programsOf(pid);
  for (const program of ['dockerd', 'containerd', 'slirp4netns', 'tail']) {
    assert.ok(programs.includes(program), `${program} is not among ${programs}`);
  }
  child.kill('SIGKILL');
  await eventually(async () => assert.deepEqual(programsOf(pid), []));
  assert.notDeepEqual(groupsOf(pid), []);

  const next = start(t, 'true', withoutImages).child;
  assert.deepEqual(await once(next, 'close'), [0, null]);
  assert.deepEqual([...groupsOf(pid), ...groupsOf(next.pid ?? 0)], []);
});

test("the engine has a network, files and a configuration apart from the machine's", async (t) => {
  const ask =
    'readlink /proc/self/ns/net; docker info --format "{{.DockerRootDir}}"; echo $DOCKER_HOST $DOCKER_CONFIG';
  const { child, said } = start(t, ask, withoutImages);
  assert.deepEqual(await once(child, 'close'), [0, null]);
  const [network, data, settings = ''] = said().split('\n');
  assert.notEqual(network, readlinkSync('/proc/self/ns/net'));
  assert.match(data ?? '', /^\/run\/cni-gate\//);
  assert.match(settings, /^unix:\/\/\/run\/cni-gate\/\S+ \/run\/cni-gate\/\S+$/);
});
