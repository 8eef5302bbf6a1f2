import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fromKubeconfig } from '../../../webhook/kubernetes/kubeconfig.ts';
import { fromPlainKubeconfig } from '../../../webhook/kubernetes/plain-kubeconfig.ts';

function folder(t: TestContext, files: Record<string, string>): string {
  const path = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

const kubeconfig = (user: string, cluster = ''): string => `
apiVersion: v1
kind: Config
current-context: x
contexts: [{name: x, context: {cluster: c, user: u, namespace: shop}}, {name: y, context: {cluster: d, user: u}}]
clusters: [{name: c, cluster: {server: "https://api:6443/"${cluster}}}, {name: d, cluster: {server: "https://d"}}]
users: [{name: u, user: {${user}}}, {name: v, user: {exec: {command: x}}}]
`;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('a plain kubeconfig is read as the package reads it', async (t) => {
  const data = `client-certificate-data: ${base64('A')}, client-key-data: ${base64('K')}`;
  for (const [user, cluster] of [
    ['token: abc', `, certificate-authority-data: ${base64('CA')}, tls-server-name: kubernetes`],
    ['token: "123"', ', insecure-skip-tls-verify: true'],
    ['token: abc', ', insecure-skip-tls-verify: false, extensions: [{name: minikube}]'],
    [data, ', certificate-authority: ca.crt'],
    ['client-certificate: a.crt, client-key: a.key', ''],
    [`client-certificate: a.crt, client-key: a.key, ${data}`, ''],
    ['username: me, password: secret', ''],
    ['', ''],
  ] as const) {
    const path = folder(t, {
      config: kubeconfig(user, cluster),
      'ca.crt': 'CA',
      'a.crt': 'A1',
      'a.key': 'K1',
    });
    const file = join(path, 'config');
    for (const context of [undefined, 'y']) {
      const access = fromPlainKubeconfig(file, context);
      assert.ok(access, `${user} ${cluster}`);
      assert.equal(access.source, file);
      assert.deepEqual(await access.connection(), await fromKubeconfig(file, context).connection());
    }
  }
});

test('a kubeconfig that is not plain, or cannot be used, is left to the package', (t) => {
  for (const text of [
    kubeconfig('exec: {apiVersion: client.authentication.k8s.io/v1, command: aws}'),
    kubeconfig('auth-provider: {name: oidc}'),
    kubeconfig('token: abc, as: somebody'),
    kubeconfig('token: abc, username: me, password: secret'),
    kubeconfig('tokenFile: /token'),
    kubeconfig('token-file: /token'),
    kubeconfig('token: 123'),
    kubeconfig('username: me'),
    kubeconfig('token: abc', ', proxy-url: http://proxy:3128'),
    kubeconfig('token: abc', ', insecure-skip-tls-verify: 1'),
    kubeconfig('token: abc').replace('name: v,', 'name: u,'),
    kubeconfig('token: abc').replace('current-context: x', 'current-context: z'),
    kubeconfig('token: abc').replace('{name: u,', '{name: w,'),
    kubeconfig('token: abc').replace('https://api', 'http://api'),
    '{}',
    ':\n  - {',
  ]) {
    assert.equal(fromPlainKubeconfig(join(folder(t, { config: text }), 'config')), undefined, text);
  }
  assert.equal(fromPlainKubeconfig('/does/not/exist'), undefined);
  assert.equal(fromPlainKubeconfig(join(folder(t, { config: kubeconfig('') }), 'config'), 'z'), undefined);
});

test('another current context, written while the process runs, changes nothing', async (t) => {
  const text = kubeconfig('token: abc');
  const file = join(folder(t, { config: text }), 'config');
  for (const read of [fromPlainKubeconfig, fromKubeconfig]) {
    writeFileSync(file, text);
    const access = read(file);
    writeFileSync(file, text.replace('current-context: x', 'current-context: y'));
    access?.refresh();
    assert.equal(access?.context, 'x');
    assert.match((await access?.connection())?.server ?? '', /^https:\/\/api:6443/);
  }
});

test('certificates are read for each connection, the file again after a refresh', async (t) => {
  const path = folder(t, {
    config: kubeconfig('client-certificate: a.crt, client-key: a.key'),
    'a.crt': 'A',
    'a.key': 'K',
  });
  const file = join(path, 'config');
  const access = fromPlainKubeconfig(file);
  assert.equal(String((await access?.connection())?.tls.cert), 'A');
  writeFileSync(join(path, 'a.crt'), 'B');
  assert.equal(String((await access?.connection())?.tls.cert), 'B');
  writeFileSync(file, kubeconfig('token: abc'));
  assert.equal(String((await access?.connection())?.tls.cert), 'B');
  access?.refresh();
  assert.equal((await access?.connection())?.headers.Authorization, 'Bearer abc');
  // a file that needs the package now
  writeFileSync(file, kubeconfig('token: abc', ', proxy-url: http://proxy:3128'));
  access?.refresh();
  assert.notEqual((await access?.connection())?.agent, undefined);
  assert.notEqual((await access?.connection())?.agent, undefined);
});

test('a certificate that cannot be read is an error that names the kubeconfig', async (t) => {
  const path = folder(t, { config: kubeconfig('client-certificate: a.crt, client-key: a.key') });
  await assert.rejects(async () => fromPlainKubeconfig(join(path, 'config'))?.connection(), {
    code: 'CNI_GATE_CLUSTER_CONFIG',
    message: /cannot use kubeconfig .*config: ENOENT/,
  });
});
