import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { profileLabel } from '../../webhook/lib/names.ts';
import { main, startCniGate } from '../support/command.ts';
import { podOn } from './gate/scene.ts';
import { isN1Down, setStatusScene } from './gate/status-scene.ts';
import { namespace } from './harness/objects.ts';

/* `cni-gate status --watch` on a real control plane. */

const { cluster, apply, setReady, watching } = await setStatusScene({ own: true });
const { api } = cluster;

test('--watch prints a document at each change, and exits with the last exit code', async (t) => {
  const { until, end } = watching(t);
  await until(({ well }) => well);
  await setReady(false);
  await until((seen) => isN1Down(seen) && !seen.well);
  await apply(namespace('later', { [profileLabel]: 'mesh' }), podOn('web', { namespace: 'later' }));
  await until(({ namespaces }) => namespaces.some(({ name }) => name === 'later'));
  await cluster.kubectl(['label', 'namespace', 'later', `${profileLabel}-`]);
  await until(({ namespaces }) => namespaces.length === 1);
  await setReady(true);
  await until(({ well }) => well);
  assert.equal(await end(), 0);
});

test('--watch reports that no replica answers, and that one answers again', async (t) => {
  const slice = '/apis/discovery.k8s.io/v1/namespaces/cni-gate/endpointslices/cni-gate';
  const { endpoints } = await api.get<{ endpoints: object[] }>(slice);
  const { until, end } = watching(t);
  await until(({ well }) => well);
  await api.patch(slice, { endpoints: [] });
  const { headline, features } = await until(({ well }) => !well);
  assert.match(
    headline,
    /^Not all is well: Service cni-gate\/cni-gate: it has no endpoint, .*CNI_GATE_NO_ENDPOINTS/,
  );
  assert.deepEqual([features[0]?.inForce, features[1]?.inForce], [false, false]);
  await api.patch(slice, { endpoints });
  await until(({ well }) => well);
  assert.equal(await end(), 0);
});

test('--watch ends when its reader closes, and redraws on a terminal', async (t) => {
  const args = ['status', '--kubeconfig', cluster.admin.kubeconfig, '--watch'];
  const unread = startCniGate(args);
  t.after(() => unread.kill('SIGKILL'));
  const over = once(unread, 'exit');
  assert.ok(unread.stdout);
  const [first] = await once(unread.stdout, 'data');
  // an empty line ends each, where nothing is drawn over
  assert.match(String(first), /^All is well.*\n\n$/s);
  unread.stdout.destroy();

  // exec: a shell that stays in between may take Ctrl-C for its own, and end with 130
  const commandLine = ['exec', process.execPath, main, ...args].join(' ');
  const terminal = spawn('script', ['-qec', commandLine, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => terminal.kill('SIGKILL'));
  const shown = terminal.stdout.setEncoding('utf8')[Symbol.asyncIterator]();
  const until = async (text: RegExp | ((seen: string) => boolean)): Promise<void> => {
    const isIt = typeof text === 'function' ? text : (seen: string) => text.test(seen);
    for (let seen = ''; !isIt(seen); ) {
      const { value, done } = await shown.next();
      assert.ok(!done, seen);
      seen += value;
    }
  };
  await until(/\[H\S*\[J\S*All is well/s);
  t.after(() => setReady(true));
  await setReady(false);
  await until(/\[H\S*\[J\S*Not all is well/s);
  // it is drawn again where only time went on, as it tells ages
  await until((seen) => {
    const frames = seen.split('\u001b[H').filter((frame) => /ll is well/.test(frame));
    const timeless = frames.map((frame) => frame.replaceAll(/Status at \S+|\b\d+[smhd]\b/g, ''));
    return frames.some((frame, at) => timeless[at] === timeless[at + 1] && frame !== frames[at + 1]);
  });
  // Ctrl-C
  terminal.stdin.write('\u0003');
  const [[code]] = await Promise.all([once(terminal, 'exit'), over]);
  assert.equal(code, 1);
});

test('--watch continues through an outage, and reports it', async (t) => {
  const { until, reported, end } = watching(t);
  await until(({ well }) => well);
  const { 'kube-apiserver': apiServer } = cluster.components;
  await apiServer.kill();
  await reported(/^cni-gate: cannot \w+ \S+: no answer of the API server .*; it is tried again$/);
  await apiServer.start();
  await setReady(false);
  await until(isN1Down);
  await setReady(true);
  await until(({ well }) => well);
  assert.equal(await end(), 0);
});
