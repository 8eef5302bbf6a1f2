import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { apiPath, pathBelow } from '../../../webhook/cluster/api-path.ts';

const refused = { code: 'CNI_GATE_CLUSTER_PATH' };

suite('paths of the API', () => {
  test('each value becomes one segment, whatever it contains', () => {
    assert.equal(apiPath`/api/v1/namespaces/${'shop'}/pods/${'web-0'}`, '/api/v1/namespaces/shop/pods/web-0');
    assert.equal(apiPath`/api/v1/namespaces/${'a/../b'}/pods`, '/api/v1/namespaces/a%2F..%2Fb/pods');
    assert.equal(pathBelow('/api/v1/nodes', 'n1?x=1#y'), '/api/v1/nodes/n1%3Fx%3D1%23y');
    assert.equal(apiPath`/api/v1/nodes/${'...'}`, '/api/v1/nodes/...');
  });

  for (const name of ['', '.', '..']) {
    test(`a segment is never "${name}"`, () => {
      assert.throws(() => apiPath`/api/v1/namespaces/${name}/pods`, refused);
      assert.throws(() => pathBelow('/api/v1/namespaces', name), refused);
    });
  }

  test('no other code builds a path from names', () => {
    const root = fileURLToPath(new URL('../../../', import.meta.url));
    const makes = /(?<!apiPath)`\/apis?\/[^`]*(?:namespaces\/\$|\/\$\{[^}]*\}[^`]*\/\$)|encodeURIComponent/;
    const files = globSync('webhook/**/*.ts', { cwd: root }).filter((file) =>
      makes.test(readFileSync(`${root}${file}`, 'utf8')),
    );
    // reports.ts encodes the names of files in the user's repository, not paths of the API
    const others = files.filter((file) => file !== 'webhook/review/output/reports.ts');
    assert.deepEqual(others, ['webhook/cluster/api-path.ts']);
  });
});
