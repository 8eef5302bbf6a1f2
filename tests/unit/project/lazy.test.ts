import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const path = (relative: string): string => fileURLToPath(new URL(`../../../${relative}`, import.meta.url));

/** A module to load before a program. It ends the program as soon as the program loads the Kubernetes client. */
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

test('the Kubernetes client is loaded for kubeconfig files only', () => {
  const main = path('webhook/main.ts');
  assert.equal(guarded([main, 'serve', '--kubeconfig', '/nowhere']), 42, 'or this test sees nothing');
  assert.equal(guarded([main, 'review', '-f', path('examples/web.yaml')]), 0);
  // `serve` fails only at the certificate, so by then it has loaded everything that it needs
  assert.equal(
    guarded([main, 'serve', '--profile', 'cilium', '--tls-cert', '/nowhere', '--tls-key', 'x']),
    2,
  );
  for (const name of ['cluster/open', 'cluster/view/watch-namespaces'])
    assert.equal(guarded([path(`webhook/${name}.ts`)]), 0, 'nor in a pod');
});

test("the server does not load undici, Node's HTTP client", () => {
  const modules = ['server/serve.ts', 'server/watch-cluster.ts', 'cluster/open.ts'].map(
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
