import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Policy } from '../../../webhook/core/profiles/policy.ts';
import { configurationOf, policyOf } from '../../support/configurations.ts';

const redirect = (rest: object): object => ({
  redirect: { listen: 15_999, connect: ['192.0.2.9:9'], ...rest },
});

const profiles = [
  { name: 'inbound', proof: { checks: [redirect({ listen: 15_998, asUser: 1500 })] } },
  { name: 'outbound', proof: { checks: [redirect({ notAsUser: 1500 })] } },
  { name: 'same-port', proof: { checks: [redirect({ listen: 4140 })] } },
  { name: 'database', proof: { checks: [{ reach: { host: 'db', port: 5432 } }] } },
  { name: 'blue', annotations: { pool: 'blue', 'k8s.v1.cni.cncf.io/networks': 'a' } },
  { name: 'green', annotations: { pool: 'green', 'k8s.v1.cni.cncf.io/networks': 'b' } },
  { name: 'pool-less', when: [{ container: 'x' }, { annotations: { pool: { notIn: ['blue'] } } }] },
  { name: 'x'.repeat(40) },
];

const policy = policyOf({ profiles });

const known = [...policy.profiles.keys()].join(', ');
const x40 = 'x'.repeat(40);

/** Joins by label, and why each is refused. */
const unknown: [label: string, message: string][] = [
  ['nope', `profile "nope" does not exist; the configuration has: ${known}`],
  [
    'cilium.',
    `profile "" of "cilium." does not exist (did you mean "cilium"?); the configuration has: ${known}`,
  ],
  ...[
    ['cillium', 'cilium'],
    ['Cilium', 'cilium'],
    ['cilium,linkerd', 'cilium.linkerd'],
    ['aws_vpc_cni', 'aws-vpc-cni'],
  ].map(([label = '', meant]): [string, string] => [
    label,
    `profile "${label}" does not exist (did you mean "${meant}"?); the configuration has: ${known}`,
  ]),
  [
    'cilium.linkred',
    `profile "linkred" of "cilium.linkred" does not exist (did you mean "cilium.linkerd"?); the configuration has: ${known}`,
  ],
];
const impossible: [label: string, why: string][] = [
  ['istio.inbound', 'at most one profile may require a user id, not "istio" and "inbound"'],
  ['outbound.inbound', 'profile "outbound" excludes user 1500, which profile "inbound" requires'],
  ['linkerd.same-port', 'two redirect checks bind port 4140 (profile "linkerd" and profile "same-port")'],
  [
    'istio-ambient.database',
    'check "reach" of profile "database" would be answered by the proxy that profile "istio-ambient" redirects to',
  ],
  ['blue.green', 'annotation pool is "blue" for profile "blue" and "green" for "green"'],
  ['pool-less.blue', 'profile "pool-less" excludes pods with the annotation pool, which profile "blue" sets'],
];
const refusals = [
  ...unknown.map(([label, message]) => [label, 'UNKNOWN', message] as const),
  ...impossible.map(
    ([label, why]) => [label, 'COMBINATION', `profile "${label}" is not possible: ${why}`] as const,
  ),
  ['cilium.multus.cilium', 'COMBINATION', 'profile "cilium.multus.cilium" names a profile twice'],
  [
    `cilium.multus.linkerd.${x40}.aws-vpc-cni`,
    'COMBINATION',
    `profile "cilium.multus.linkerd.${x40}.…" is longer than a label value may be (63 characters)`,
  ],
] as const;

suite('combined profiles', () => {
  for (const [label, code, message] of refusals) {
    test(`${label.slice(0, 40)} is refused`, () => {
      assert.throws(() => policy.combineProfiles(label), { code: `CNI_GATE_PROFILE_${code}`, message });
    });
  }

  test('a combination has its profiles in the order of the label, and is cached', () => {
    const combined = policy.combineProfiles('multus.cilium.linkerd');
    assert.deepEqual(
      combined.profiles.map((profile) => profile.name),
      ['multus', 'cilium', 'linkerd'],
    );
    assert.equal(policy.combineProfiles('multus.cilium.linkerd'), combined);
  });

  test('combinations that are accepted', () => {
    const accepted = 'linkerd.istio istio.istio-ambient pool-less.green cilium.database linkerd.multus';
    for (const label of accepted.split(' ')) {
      assert.equal(policy.combineProfiles(label).name, label);
    }
  });
});

test('DaemonSets of profiles are identified by namespace and name', () => {
  const made = new Policy(
    configurationOf({ profiles: [{ name: 'mine', daemonSets: [{ namespace: 'net', name: 'agent' }] }] }),
  );
  assert.ok(made.daemonSets.has('net/agent'));
  assert.ok(made.daemonSets.has('linkerd-cni/linkerd-cni'));
  assert.ok(!made.daemonSets.has('agent'));
});
