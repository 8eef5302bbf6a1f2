import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Policy } from '../../../webhook/config/policy.ts';
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

const refusals: [string, string, string][] = [
  [
    'nope',
    'UNKNOWN',
    `profile "nope" does not exist; the configuration has: ${[...policy.profiles.keys()].join(', ')}`,
  ],
  [
    'cilium.',
    'UNKNOWN',
    `profile "" of "cilium." does not exist; the configuration has: ${[...policy.profiles.keys()].join(', ')}`,
  ],
  [
    'cilium.none',
    'UNKNOWN',
    `profile "none" of "cilium.none" does not exist; the configuration has: ${[...policy.profiles.keys()].join(', ')}`,
  ],
  [
    'likerd',
    'UNKNOWN',
    `profile "likerd" does not exist: did you mean linkerd? The configuration has: ${[...policy.profiles.keys()].join(', ')}`,
  ],
  [
    'cilium.likerd',
    'UNKNOWN',
    `profile "likerd" of "cilium.likerd" does not exist: did you mean linkerd? The configuration has: ${[...policy.profiles.keys()].join(', ')}`,
  ],
  ['cilium.multus.cilium', 'JOIN', 'profile "cilium.multus.cilium" names a profile twice'],
  [
    `cilium.multus.linkerd.${'x'.repeat(40)}.aws-vpc-cni`,
    'JOIN',
    `profile "cilium.multus.linkerd.${'x'.repeat(40)}.…" is longer than a label value may be (63 characters)`,
  ],
  [
    'istio.inbound',
    'JOIN',
    'profile "istio.inbound" is not possible: at most one profile may require a user id: user of istio-validation, istio-proxy, else 1337 of profile "istio", user 1500 of profile "inbound"',
  ],
  [
    'outbound.inbound',
    'JOIN',
    'profile "outbound.inbound" is not possible: user 1500 of profile "inbound" is required by asUser and excluded by notAsUser of profile "outbound"',
  ],
  [
    'linkerd.same-port',
    'JOIN',
    'profile "linkerd.same-port" is not possible: two redirect checks bind port 4140 (profile "linkerd" and profile "same-port")',
  ],
  [
    'istio-ambient.database',
    'JOIN',
    'profile "istio-ambient.database" is not possible: check "reach" of profile "database" would be answered by the proxy that profile "istio-ambient" redirects to',
  ],
  [
    'blue.green',
    'JOIN',
    'profile "blue.green" is not possible: annotation pool is "blue" for profile "blue" and "green" for "green"',
  ],
  [
    'pool-less.blue',
    'JOIN',
    'profile "pool-less.blue" is not possible: profile "pool-less" excludes pods with the annotation pool, which profile "blue" sets',
  ],
];

suite('joins of profiles', () => {
  for (const [label, code, message] of refusals) {
    test(`${label.slice(0, 40)} is refused`, () => {
      assert.throws(() => policy.join(label), { code: `CNI_GATE_PROFILE_${code}`, message });
    });
  }

  test('a join has its profiles in the order of the label, and is cached', () => {
    const join = policy.join('multus.cilium.linkerd');
    assert.deepEqual(
      join.profiles.map((profile) => profile.name),
      ['multus', 'cilium', 'linkerd'],
    );
    assert.equal(policy.join('multus.cilium.linkerd'), join);
  });

  test('joins that are accepted', () => {
    for (const label of [
      'linkerd.istio',
      'istio.istio-ambient',
      'pool-less.green',
      'cilium.database',
      'linkerd.multus',
    ]) {
      assert.equal(policy.join(label).name, label);
    }
  });

  test('made-up labels: at most a thousand joins are cached', () => {
    const many = Array.from({ length: 12 }, (_, index) => ({ name: `p${index}` }));
    const open = policyOf({ profiles: many });
    const first = open.join('p0');
    for (let index = 0; index < 1100; index++) {
      const names = [0, 1, 2, 3].map((place) => Math.floor(index / 12 ** place) % 12);
      if (new Set(names).size === 4) open.join(names.map((name) => `p${name}`).join('.'));
    }
    assert.deepEqual(open.join('p0'), first);
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
