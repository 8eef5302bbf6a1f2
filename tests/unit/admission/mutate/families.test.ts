import assert from 'node:assert/strict';
import { test } from 'node:test';
import { familiesIn, narrow } from '../../../../webhook/admission/mutate/families.ts';
import type { FamiliesSource, Profile } from '../../../../webhook/config/types.ts';

const profile = (families?: FamiliesSource): Profile => ({
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

test("env: the families of the proxy's listen addresses", () => {
  const asked = profile({ container: 'proxy', env: 'LISTEN' });
  const seen = (value?: string) =>
    familiesIn(pod([{ name: 'LISTEN', ...(value !== undefined && { value }) }]), asked);
  assert.deepEqual(seen('0.0.0.0:4143'), { ipv4: true, ipv6: false });
  assert.deepEqual(seen('127.0.0.1:4140, [::1]:4140'), { ipv4: true, ipv6: true });
  assert.deepEqual(seen('[::1]:4140'), { ipv4: false, ipv6: true });
  // a listener on every IPv6 address accepts IPv4 too
  assert.deepEqual(seen('[::]:4143'), { ipv4: true, ipv6: true });
  assert.deepEqual(
    seen('[0:0:0:0:0:0:0:0]:4143'),
    { ipv4: true, ipv6: true },
    'the same in another spelling',
  );
  assert.deepEqual(seen('[::ffff:0.0.0.0]:4143'), { ipv4: true, ipv6: false });
});

test('env: an invalid list of addresses limits nothing', () => {
  const asked = profile({ container: 'proxy', env: 'LISTEN' });
  const garbage = ['', 'localhost:4143', '4143', '[', '[junk', '[junk]:1', '999.999.999.999:1', '0.0.0.0'];
  for (const value of [...garbage, '0.0.0.0:4143,*:9', '0.0.0.0:4143,', '0.0.0.0:0', '[::1]'])
    assert.equal(familiesIn(pod([{ name: 'LISTEN', value }]), asked), undefined, value);
  assert.equal(familiesIn(pod([{ name: 'LISTEN' }]), asked), undefined);
});

test('two variables of the same name: the last one counts', () => {
  const asked = profile({ container: 'proxy', env: 'LISTEN' });
  const [first, second] = ['0.0.0.0:1', '[::1]:1'].map((value) => ({ name: 'LISTEN', value }));
  assert.ok(first && second);
  assert.deepEqual(familiesIn(pod([first, second]), asked), { ipv4: false, ipv6: true });
  assert.equal(familiesIn(pod([first, { name: 'LISTEN' }]), asked), undefined, 'a value from elsewhere');
});

test('no container, no variable or no proof.families: every family', () => {
  const env = [{ name: 'LISTEN', value: '0.0.0.0:1' }];
  assert.equal(familiesIn(pod(env), profile()), undefined);
  assert.equal(familiesIn(pod(env), profile({ container: 'other', env: 'LISTEN' })), undefined);
  assert.equal(familiesIn(pod(env), profile({ container: 'proxy', env: 'OTHER' })), undefined);
});

test('a redirect keeps the targets of its families, or all if none would be left', () => {
  const redirect = (...connect: string[]) => ({
    direction: 'outbound' as const,
    listen: 1,
    connect,
    timeout: '1s',
  });
  const both = redirect('192.0.2.2:1', '[2001:db8::2]:1');
  assert.deepEqual(narrow(both, { ipv4: true, ipv6: false }), redirect('192.0.2.2:1'));
  assert.deepEqual(narrow(both, undefined), both);
  const only = redirect('[2001:db8::2]:1');
  assert.deepEqual(narrow(only, { ipv4: true, ipv6: false }), only);
  assert.deepEqual(narrow(both, 'first'), { ...both, families: 'first' });
  assert.deepEqual(narrow(both, 'all'), { ...both, families: 'all' });
});

test("dualStackEnv: Go's true values mean both families, anything else means one", () => {
  const asked = profile({ container: 'proxy', dualStackEnv: 'DUAL' });
  const served = (value?: string) =>
    familiesIn(pod([{ name: 'DUAL', ...(value !== undefined && { value }) }]), asked);
  for (const value of ['1', 't', 'T', 'true', 'TRUE', 'True']) assert.equal(served(value), 'all', value);
  for (const value of ['0', 'false', '', 'yes', 'tRUE', ' true']) assert.equal(served(value), 'first', value);
  assert.equal(served(), 'first', 'a value from elsewhere');
  const [yes, no] = ['true', 'false'].map((value) => ({ name: 'DUAL', value }));
  assert.ok(yes && no);
  assert.equal(familiesIn(pod([yes, no]), asked), 'first', 'of two the last');
  assert.equal(familiesIn(pod([]), asked), 'first');
  assert.equal(familiesIn(pod([yes]), profile({ container: 'other', dualStackEnv: 'DUAL' })), 'first');
});
