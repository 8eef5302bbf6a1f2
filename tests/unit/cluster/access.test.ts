import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fromKubeconfig } from '../../../webhook/cluster/kubeconfig.ts';
import { inCluster } from '../../../webhook/cluster/open.ts';
import { folderWith } from '../../support/folder.ts';

const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };

test('in a pod, address, authority and token come from the service account, read for each connection', async (t) => {
  const mounted = folderWith(t, { token: 'one\n', 'ca.crt': 'CA 1' });
  const access = inCluster(env, mounted);
  assert.deepEqual(await access?.connection(), {
    server: 'https://10.96.0.1:443',
    headers: { authorization: 'Bearer one' },
    tls: { ca: 'CA 1' },
  });
  writeFileSync(join(mounted, 'token'), 'two');
  writeFileSync(join(mounted, 'ca.crt'), 'CA 2');
  const later = await access?.connection();
  assert.deepEqual([later?.headers.authorization, later?.tls.ca], ['Bearer two', 'CA 2']);
  const ipv6 = inCluster({ ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' }, mounted);
  assert.equal((await ipv6?.connection())?.server, 'https://[fd00::1]:443');
});

test('without an address or a token this is not a pod; without an authority it is an error', async (t) => {
  assert.equal(inCluster({}, folderWith(t, { token: 'x' })), undefined);
  assert.equal(inCluster(env, folderWith(t, {})), undefined);
  const access = inCluster(env, folderWith(t, { token: 'x' }));
  await assert.rejects(async () => access?.connection(), {
    code: 'CNI_GATE_CLUSTER_CONFIG',
    message: /ca\.crt: no such file or directory$/,
  });
});

const kubeconfig = (user: string, cluster = ''): string => `
apiVersion: v1
kind: Config
current-context: x
contexts: [{name: x, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://api:6443"${cluster}}}]
users: [{name: u, user: {${user}}}]
`;

test('kubeconfig: address, authority, token, name of the certificate, proxy', async (t) => {
  const ca = Buffer.from('CA').toString('base64');
  const more = `, certificate-authority-data: ${ca}, tls-server-name: kubernetes`;
  const file = join(folderWith(t, { config: kubeconfig('token: abc', more) }), 'config');
  const { server, headers, tls, agent } = await fromKubeconfig(file).connection();
  assert.equal(server, 'https://api:6443');
  assert.deepEqual(headers, { Authorization: 'Bearer abc' });
  assert.deepEqual([tls.ca, tls.servername], [Buffer.from('CA'), 'kubernetes']);
  assert.equal(agent, undefined);
  const proxied = folderWith(t, { config: kubeconfig('token: abc', ', proxy-url: http://proxy:3128') });
  assert.notEqual((await fromKubeconfig(join(proxied, 'config')).connection()).agent, undefined);
});

test('kubeconfig: client certificates', async (t) => {
  const files = {
    config: kubeconfig('client-certificate: a.crt, client-key: a.key'),
    'a.crt': 'A',
    'a.key': 'K',
  };
  const path = folderWith(t, files);
  const access = fromKubeconfig(join(path, 'config'));
  const { tls } = await access.connection();
  assert.deepEqual([String(tls.cert), String(tls.key)], ['A', 'K']);
  writeFileSync(join(path, 'a.crt'), 'B');
  assert.equal(String((await access.connection()).tls.cert), 'B', 'replaced while the process runs');
});

test('kubeconfig: a plugin runs again after its token was rejected', async (t) => {
  const path = folderWith(t, {});
  const counter = join(path, 'counter');
  const script = join(path, 'plugin.mjs');
  writeFileSync(
    script,
    `import { appendFileSync, readFileSync } from 'node:fs';
    appendFileSync('${counter}', 'x');
    console.log(JSON.stringify({ status: { token: readFileSync('${counter}', 'utf8') } }));`,
  );
  const exec = `exec: {apiVersion: client.authentication.k8s.io/v1, command: "${process.execPath}", args: ["${script}"]}`;
  writeFileSync(join(path, 'config'), kubeconfig(exec));
  const access = fromKubeconfig(join(path, 'config'));
  const token = async () => (await access.connection()).headers.Authorization;
  assert.equal(await token(), 'Bearer x');
  assert.equal(await token(), 'Bearer x');
  access.refresh();
  assert.equal(await token(), 'Bearer xx');
});

test('the error of a kubeconfig that is not YAML shows nothing of its lines, which may contain a token', (t) => {
  const path = folderWith(t, { config: 'users: [{name: u, user: {token: s3cr3t\u001b[2J}}\nmore: x\n' });
  assert.throws(
    () => fromKubeconfig(join(path, 'config')),
    ({ message, code }: { message: string; code: string }) => {
      assert.equal(code, 'CNI_GATE_CLUSTER_CONFIG');
      assert.match(message, /cannot use kubeconfig .*config: \S.* \(\d+:\d+\)$/);
      assert.doesNotMatch(message, /s3cr3t|\p{Cc}/u);
      return true;
    },
  );
});

test('a kubeconfig that cannot be used is an error that names the file', (t) => {
  const path = folderWith(t, { config: kubeconfig('token: abc'), empty: '{}', broken: ':\n  - {' });
  for (const [name, context, text] of [
    ['missing', undefined, /cannot use kubeconfig .*missing: no such file or directory$/],
    [
      'empty',
      undefined,
      /cannot use kubeconfig .*empty: it has no context that is current, or no cluster for it$/,
    ],
    ['broken', undefined, /cannot use kubeconfig .*broken: /],
    ['config', 'three', /config: it has no context three, or no cluster for it$/],
  ] as const) {
    const error = { code: 'CNI_GATE_CLUSTER_CONFIG', message: text };
    assert.throws(() => fromKubeconfig(join(path, name), context), error);
  }
});
