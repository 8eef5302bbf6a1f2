import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { FamiliesSource } from '../../../../webhook/core/profiles/types.ts';
import { familiesIn, narrow } from '../../../../webhook/core/proof/families.ts';

/** What the profile reads of a pod whose proxy has this variable with these values. */
function served(families: FamiliesSource | undefined, ...values: (string | undefined)[]) {
  const env = values.map((value) => ({ name: 'GIVEN', ...(value !== undefined && { value }) }));
  const containers = [{ name: 'app' }, { name: 'proxy', env }];
  return familiesIn({ metadata: {}, spec: { containers } }, { checks: [], ...(families && { families }) });
}

const listen = { container: 'proxy', env: 'GIVEN' };
const dual = { container: 'proxy', dualStackEnv: 'GIVEN' };
const [ipv4, ipv6, both] = [
  [true, false],
  [false, true],
  [true, true],
].map(([four, six]) => ({
  ipv4: four,
  ipv6: six,
}));

suite('the families that a mesh serves', () => {
  test("env: those of the proxy's listen addresses", () => {
    assert.deepEqual(served(listen, '0.0.0.0:4143'), ipv4);
    assert.deepEqual(served(listen, '127.0.0.1:4140, [::1]:4140'), both);
    assert.deepEqual(served(listen, '[::1]:4140'), ipv6);
    // a listener on every IPv6 address accepts IPv4 too
    assert.deepEqual(served(listen, '[::]:4143'), both);
    assert.deepEqual(served(listen, '[0:0:0:0:0:0:0:0]:4143'), both);
    assert.deepEqual(served(listen, '[::ffff:0.0.0.0]:4143'), ipv4);
    assert.deepEqual(served(listen, '0.0.0.0:1', '[::1]:1'), ipv6, 'of two variables the last');
  });

  test('env: an invalid list, or a value from elsewhere, limits nothing', () => {
    const garbage = ['', 'localhost:4143', '4143', '[', '[junk]:1', '999.999.999.999:1', '0.0.0.0'];
    for (const value of [...garbage, '0.0.0.0:4143,*:9', '0.0.0.0:4143,', '0.0.0.0:0', '[::1]', undefined])
      assert.equal(served(listen, value), undefined, value);
    assert.equal(served(listen, '0.0.0.0:1', undefined), undefined);
  });

  test("dualStackEnv: Go's true values mean both families, anything else means one", () => {
    for (const value of ['1', 't', 'T', 'true', 'TRUE', 'True'])
      assert.equal(served(dual, value), 'all', value);
    for (const value of ['0', 'false', '', 'yes', 'tRUE', ' true', undefined])
      assert.equal(served(dual, value), 'first', value);
    assert.equal(served(dual, 'true', 'false'), 'first', 'of two variables the last');
  });

  test('no container, no variable or no proof.families: every family', () => {
    assert.equal(served(undefined, '0.0.0.0:1'), undefined);
    assert.equal(served({ ...listen, container: 'other' }, '0.0.0.0:1'), undefined);
    assert.equal(served({ ...listen, env: 'OTHER' }, '0.0.0.0:1'), undefined);
    assert.equal(served({ ...dual, container: 'other' }, 'true'), 'first');
  });

  test('a redirect keeps the targets of its families, or all if none would be left', () => {
    const redirect = (...connect: string[]) =>
      ({ direction: 'outbound', listen: 1, connect, timeout: '1s' }) as const;
    const all = redirect('192.0.2.2:1', '[2001:db8::2]:1');
    const only = redirect('[2001:db8::2]:1');
    const four = { ipv4: true, ipv6: false };
    assert.deepEqual(narrow({ ...all }, four), redirect('192.0.2.2:1'));
    assert.deepEqual(narrow({ ...only }, four), only);
    assert.deepEqual(narrow({ ...all }, undefined), all);
    assert.deepEqual(narrow({ ...all }, 'first'), { ...all, families: 'first' });
  });
});
