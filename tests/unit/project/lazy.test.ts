import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const path = (relative: string): string => fileURLToPath(new URL(`../../../${relative}`, import.meta.url));

/** Put before a program: it ends where the program loads the Kubernetes client. */
const guard = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === '@kubernetes/client-node') {
        console.error('the Kubernetes client is loaded');
        process.exit(42);
      }
      return next(specifier, context);
    },
  });
`)}`;

function guarded(args: string[]): number | null {
  const { status } = spawnSync(process.execPath, ['--import', guard, ...args], { encoding: 'utf8' });
  return status;
}

test('the Kubernetes client, 85 MB, is loaded for kubeconfig files that need it only', () => {
  const main = path('webhook/main.ts');
  assert.equal(guarded([main, 'serve', '--kubeconfig', '/nowhere']), 42, 'or this test sees nothing');
  assert.equal(guarded([main, 'review', '-f', path('examples/web.yaml')]), 0);
  assert.equal(guarded([main, 'validate']), 64, 'wrong usage, in its own words');
  // it gets as far as the certificate, so everything that serve needs is loaded
  assert.equal(
    guarded([main, 'serve', '--profile', 'cilium', '--tls-cert', '/nowhere', '--tls-key', 'x']),
    2,
  );
});

test('nor is it loaded in a pod', () => {
  const modules = ['kubernetes/open', 'kubernetes/in-cluster', 'view/watch-namespaces'].map((name) =>
    path(`webhook/${name}.ts`),
  );
  for (const module of modules) assert.equal(guarded([module]), 0, module);
});

test('nor for a kubeconfig with a token, but for one with a plugin', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config');
  const module = path('webhook/kubernetes/open.ts');
  const program = `const { openCluster } = await import('${module}'); (await openCluster('${file}')).close();`;
  const status = (user: object): number | null => {
    const config = {
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
      clusters: [{ name: 'x', cluster: { server: 'https://api:6443' } }],
      users: [{ name: 'x', user }],
    };
    writeFileSync(file, JSON.stringify(config));
    return guarded(['--input-type=module', '-e', program]);
  };
  assert.equal(status({ token: 'abc' }), 0);
  assert.equal(status({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'aws' } }), 42);
});

test("the server does not load Node's client of the Web, 12 MB", () => {
  const modules = ['server/serve.ts', 'view/from-cluster.ts', 'kubernetes/open.ts'].map(
    (name) => `await import('${path(`webhook/${name}`)}');`,
  );
  const loaded = (program: string): boolean => {
    const report = "console.log(process.moduleLoadList.some((name) => name.includes('undici')));";
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', `${program} ${report}`],
      { encoding: 'utf8' },
    );
    assert.match(stdout, /^(true|false)$/m, stderr);
    return stdout.trim() === 'true';
  };
  assert.equal(loaded("await import('node:http');"), true, 'or this test sees nothing');
  assert.equal(loaded(modules.join(' ')), false);
});
