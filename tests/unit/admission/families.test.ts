import assert from 'node:assert/strict';
import { test } from 'node:test';
import { familiesIn, narrow } from '../../../webhook/admission/families.ts';
import type { Profile } from '../../../webhook/config/types.ts';

const profile = (families?: { container: string; env: string }): Profile => ({
  name: 'mesh',
  when: {},
  daemonSets: [],
  annotations: {},
  proof: { checks: [], ...(families && { families }) },
});

const pod = (env: { name: string; value?: string }[]) => ({
  metadata: {},
  spec: { containers: [{ name: 'app' }, { name: 'proxy', env }] },
});

test('the families are those of the addresses that the proxy listens on', () => {
  const asked = profile({ container: 'proxy', env: 'LISTEN' });
  const seen = (value?: string) =>
    familiesIn(pod([{ name: 'LISTEN', ...(value !== undefined && { value }) }]), asked);
  assert.deepEqual(seen('0.0.0.0:4143'), { ipv4: true, ipv6: false });
  assert.deepEqual(seen('127.0.0.1:4140, [::1]:4140'), { ipv4: true, ipv6: true });
  assert.deepEqual(seen('[::1]:4140'), { ipv4: false, ipv6: true });
  // a listener on every IPv6 address takes IPv4 as well
  assert.deepEqual(seen('[::]:4143'), { ipv4: true, ipv6: true });
  assert.deepEqual(
    seen('[0:0:0:0:0:0:0:0]:4143'),
    { ipv4: true, ipv6: true },
    'the same in another spelling',
  );
  assert.deepEqual(seen('[::ffff:0.0.0.0]:4143'), { ipv4: true, ipv6: false });
});

test('a variable that is no list of addresses and ports narrows nothing, whatever a part of it says', () => {
  const asked = profile({ container: 'proxy', env: 'LISTEN' });
  const garbage = ['', 'localhost:4143', '4143', '[', '[junk', '[junk]:1', '999.999.999.999:1', '0.0.0.0'];
  for (const value of [...garbage, '0.0.0.0:4143,*:9', '0.0.0.0:4143,', '0.0.0.0:0', '[::1]'])
    assert.equal(familiesIn(pod([{ name: 'LISTEN', value }]), asked), undefined, value);
  assert.equal(familiesIn(pod([{ name: 'LISTEN' }]), asked), undefined);
});

test('of two variables with the name the last is the one that the proxy gets', () => {
  const asked = profile({ container: 'proxy', env: 'LISTEN' });
  const [first, second] = ['0.0.0.0:1', '[::1]:1'].map((value) => ({ name: 'LISTEN', value }));
  assert.ok(first && second);
  assert.deepEqual(familiesIn(pod([first, second]), asked), { ipv4: false, ipv6: true });
  assert.equal(familiesIn(pod([first, { name: 'LISTEN' }]), asked), undefined, 'a value from elsewhere');
});

test('nothing is narrowed where the container, the variable or the wish is not there', () => {
  const env = [{ name: 'LISTEN', value: '0.0.0.0:1' }];
  assert.equal(familiesIn(pod(env), profile()), undefined);
  assert.equal(familiesIn(pod(env), profile({ container: 'other', env: 'LISTEN' })), undefined);
  assert.equal(familiesIn(pod(env), profile({ container: 'proxy', env: 'OTHER' })), undefined);
});

test('a check keeps the targets of the families, and all where it would be left with none', () => {
  const redirect = (connect: string[]) => ({
    redirect: { direction: 'outbound' as const, listen: 1, connect, timeout: '1s' },
  });
  const both = [redirect(['192.0.2.2:1', '[2001:db8::2]:1']), { address: { timeout: '1s' } }];
  const [one, , ...none] = narrow(both, { ipv4: true, ipv6: false });
  assert.deepEqual([one, ...none], [redirect(['192.0.2.2:1'])]);
  assert.deepEqual(narrow(both, undefined), both);
  const only = [redirect(['[2001:db8::2]:1'])];
  assert.deepEqual(narrow(only, { ipv4: true, ipv6: false }), only);
});
