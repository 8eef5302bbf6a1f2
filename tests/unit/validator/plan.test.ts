import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChecks } from '../../../validator/input.ts';
import { expectedOf, plan } from '../../../validator/plan.ts';
import { type Device, type Pod, readPod } from '../../../validator/pod.ts';
import { type Family, parseAddress } from '../../../validator/shared/addresses.ts';
import { env } from '../../../validator/shared/contract.ts';

const both = ['192.0.2.2:1404', '[2001:db8::2]:1404'];
const redirect = (direction: string, connect = both, families?: string): object => ({
  profile: 'mesh',
  redirect: { direction, listen: 4140, connect, families, timeout: '1s' },
});
const steps = (check: object, families: Family[]): string[] =>
  plan(readChecks(JSON.stringify([check])), { families }).map(
    ({ name, family, settled }) => `${name} ${family ?? '-'}${settled ? ` ${settled.reason}` : ''}`,
  );

const policy = (lists: object): object => ({ profile: 'deny', policy: { ...lists, timeout: '1s' } });
const dual = { blocked: ['192.0.2.2:1', '[fd00::1]:1'], allowed: ['db:1'] };
const gateway = { profile: 'cilium', gateway: { timeout: '1s' } };
const witness = { profile: 'seen', witness: { port: 14_040, timeout: '1s' } };
const dualStack: Family[] = ['IPv4', 'IPv6'];

const rows: [what: string, check: object, families: Family[], expected: string[]][] = [
  ['each family', redirect('outbound'), dualStack, ['redirect IPv4', 'redirect IPv6']],
  ['each family of the pod', redirect('outbound'), ['IPv6'], ['redirect IPv6']],
  ['a family without a target', redirect('outbound', ['192.0.2.2:1404']), dualStack, ['redirect IPv4']],
  ['no target', redirect('outbound', ['192.0.2.2:1404']), ['IPv6'], ['redirect - no-target']],
  ['no address', redirect('outbound'), [], ['redirect - address-unknown']],
  ['no address', gateway, [], ['gateway - address-unknown']],
  [
    'all families that the injector sets',
    redirect('inbound', both, 'all'),
    dualStack,
    ['redirect IPv4', 'redirect IPv6'],
  ],
  [
    'the first family, as the injector sets',
    redirect('outbound', both, 'first'),
    dualStack,
    ['redirect IPv4'],
  ],
  ['a policy: one step', policy(dual), ['IPv6'], ['policy -']],
  ['a policy without an allowed target', policy({ blocked: dual.blocked }), ['IPv6'], ['policy -']],
  ['a policy, no blocked target', policy({ blocked: ['fd00::1:443'] }), ['IPv4'], ['policy - no-target']],
  [
    'a policy, no allowed target',
    policy({ ...dual, allowed: ['192.0.2.2:2'] }),
    ['IPv6'],
    ['policy - no-target'],
  ],
  ['the witness: the primary family', witness, ['IPv6', 'IPv4'], ['witness IPv6']],
  ['interfaces: one step', { profile: 'm', interfaces: { timeout: '1s' } }, dualStack, ['interfaces -']],
  ['reach: one step', { profile: 'm', reach: { host: 'a', port: 1, timeout: '1s' } }, [], ['reach -']],
];
for (const [what, check, families, expected] of rows)
  test(`the steps of a check: ${what}`, () => assert.deepEqual(steps(check, families), expected));

test('what a policy is expected to do', () => {
  const expected = (lists: object): string => {
    const [step] = plan(readChecks(JSON.stringify([policy(lists)])), { families: ['IPv4'] });
    return step ? expectedOf(step, {} as Pod) : '';
  };
  const blocked = ['api:443', 'db:1'];
  assert.equal(expected({ blocked }), 'for a second, no connection to api:443, db:1');
  assert.equal(
    expected({ blocked, allowed: ['dns:53', 'dns:54'] }),
    'for a second, connections to dns:53, dns:54, and no connection to api:443, db:1',
  );
});

test("an inbound redirect: a step for the family of the kernel's first address, IPv4 before IPv6", () => {
  const planned = (check: object, families: Family[], devices: Device[]): string[] =>
    plan(readChecks(JSON.stringify([check])), { families }, () => devices).map(
      ({ family, note }) => `${family}${note ? `, not ${note.slice(0, 4)}` : ''}`,
    );
  const lo = device('lo', '127.0.0.1', '::1');
  const both = [lo, device('eth0', 'fd09::2', '10.9.0.2')];
  for (const families of [
    ['IPv4', 'IPv6'],
    ['IPv6', 'IPv4'],
  ] satisfies Family[][]) {
    assert.deepEqual(planned(redirect('inbound'), families, both), ['IPv4, not IPv6']);
    const linkLocal = [lo, device('eth0', '169.254.1.2', 'fe80::1', 'fd09::2')];
    assert.deepEqual(planned(redirect('inbound'), families, linkLocal), ['IPv6, not IPv4']);
  }
  assert.deepEqual(
    planned(redirect('inbound'), ['IPv6', 'IPv4'], [lo]),
    ['IPv6, not IPv4'],
    'no address yet',
  );
  assert.deepEqual(planned(redirect('inbound', ['127.0.0.6:15002']), ['IPv6', 'IPv4'], both), ['IPv4']);
  assert.deepEqual(planned(redirect('inbound'), ['IPv6'], both), ['IPv6'], 'a family of the pod only');
});

const device = (name: string, ...ips: string[]): Device => ({
  name,
  ...{ up: true, neighbours: true, mac: '' },
  addresses: ips.flatMap((text) => parseAddress(text) ?? []),
});

test("the families are those of the pod's addresses, the first one first", () => {
  const pod = readPod({ [env.podIPs]: 'fd09::2, 10.9.0.2,fd09::3' }, 1000, () => assert.fail());
  assert.deepEqual(pod.families, ['IPv6', 'IPv4']);
  assert.equal(pod.addresses.length, 3);
});

test('without addresses of the pod, the interfaces show its families', () => {
  const devices = [device('lo', '127.0.0.1', '::1'), device('eth0', 'fe80::1', '10.9.0.2')];
  for (const podIPs of [undefined, '', 'none']) {
    const pod = readPod({ [env.podIPs]: podIPs }, 1000, () => devices);
    assert.deepEqual(pod.families, ['IPv4']);
    assert.deepEqual(pod.addresses, []);
  }
});
