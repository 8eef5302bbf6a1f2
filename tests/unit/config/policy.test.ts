import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { builtInNames, policyOf } from '../../support/configurations.ts';

const redirect = (rest: object): object => ({
  redirect: { listen: 15_999, connect: ['192.0.2.9:9'], ...rest },
});

const skipped = 'config.linkerd.io/skip-inbound-ports';

const profiles = [
  { name: 'underlay', daemonSets: [{ namespace: 'net', name: 'agent' }] },
  { name: 'mesh', proof: { checks: [redirect({ listen: 4140, asUser: 1337 })] } },
  {
    name: 'captured',
    proof: { checks: [{ captured: { listeners: [15_008], outbound: 15_008, connect: ['192.0.2.9:9'] } }] },
  },
  { name: 'inbound', proof: { checks: [redirect({ listen: 15_998, asUser: 1500 })] } },
  { name: 'outbound', proof: { checks: [redirect({ notAsUser: 1500 })] } },
  { name: 'same-port', proof: { checks: [redirect({ listen: 4140 })] } },
  { name: 'database', proof: { checks: [{ reach: { host: 'db', port: 5432 } }] } },
  { name: 'blue', annotations: { pool: 'blue', 'k8s.v1.cni.cncf.io/networks': 'a' } },
  { name: 'green', annotations: { pool: 'green', 'k8s.v1.cni.cncf.io/networks': 'b' } },
  { name: 'pool-less', when: [{ container: 'x' }, { annotations: { pool: { notIn: ['blue'] } } }] },
  { name: 'watched', proof: { witness: 'kubelet', continuous: {} } },
  { name: 'watched-too', proof: { continuous: { interval: '60s', failures: 3 } } },
  { name: 'watched-hourly', proof: { witness: 'kubelet', continuous: { interval: '1h' } } },
  { name: 'logged', proof: { witness: 'kubelet', continuous: { onFailure: 'log' } } },
  { name: 'seen', proof: { witness: 'kubelet' } },
  { name: 'own', proof: { container: { image: 'a' } } },
  { name: 'unskipped', when: [{ container: 'x' }, { annotations: { [skipped]: { exists: false } } }] },
  { name: 'x'.repeat(40) },
];

const policy = policyOf({ profiles });

const known = [...builtInNames, ...profiles.map(({ name }) => name)].join(', ');
const x40 = 'x'.repeat(40);

/** Labels with a profile that does not exist, and the message of the refusal. */
const unknown: [label: string, message: string][] = [
  ['nope', `profile "nope" does not exist; the configuration has: ${known}`],
  ['underlay.', `profile "" of "underlay." does not exist; the configuration has: ${known}`],
  ...[
    ['undrelay', 'underlay'],
    ['same_port', 'same-port'],
  ].map(([label = '', meant]): [string, string] => [
    label,
    `profile "${label}" does not exist (did you mean "${meant}"?); the configuration has: ${known}`,
  ]),
  [
    'mesh.underly',
    `profile "underly" of "mesh.underly" does not exist (did you mean "underlay"?); the configuration has: ${known}`,
  ],
];
const impossible: [label: string, why: string][] = [
  ['mesh.inbound', 'at most one profile may require a user id, not "mesh" and "inbound"'],
  ['outbound.inbound', 'profile "outbound" excludes user 1500, which profile "inbound" requires'],
  ['mesh.same-port', 'two redirect checks bind port 4140 (profile "mesh" and profile "same-port")'],
  [
    'captured.database',
    'check "reach" of profile "database" would be answered by the proxy that profile "captured" redirects to',
  ],
  ['blue.green', 'annotation pool is "blue" for profile "blue" and "green" for "green"'],
  ['watched.watched-hourly', 'profiles "watched" and "watched-hourly" differ in proof.continuous'],
  [
    'own.watched-too',
    'proof.container of profile "own" replaces the validator that profile "watched-too" needs for its proof',
  ],
  [
    'linkerd.watched.unskipped',
    `proof.continuous of profile "watched" adds a port to the annotation ${skipped}, by which profile "unskipped" selects pods`,
  ],
  ['pool-less.blue', 'profile "pool-less" excludes pods with the annotation pool, which profile "blue" sets'],
];
const refusals = [
  ...unknown.map(([label, message]) => [label, 'UNKNOWN', message] as const),
  ...impossible.map(
    ([label, why]) => [label, 'COMBINATION', `profile "${label}" is not possible: ${why}`] as const,
  ),
  [
    'underlay.watched-too',
    'COMBINATION',
    'profile "underlay.watched-too" has proof.continuous, but no profile with proof.witness: add one',
  ],
  ['underlay.mesh.underlay', 'COMBINATION', 'profile "underlay.mesh.underlay" names a profile twice'],
  [
    `underlay.mesh.captured.${x40}.green`,
    'COMBINATION',
    `profile "underlay.mesh.captured.${x40}…" is longer than a label value may be (63 characters)`,
  ],
] as const;

suite('combined profiles', () => {
  for (const [label, code, message] of refusals) {
    test(`${label.slice(0, 40)} is refused`, () => {
      assert.throws(() => policy.combineProfiles(label), { code: `CNI_GATE_PROFILE_${code}`, message });
    });
  }

  test('combinations that are accepted, with their profiles in the order of the label', () => {
    const accepted = [
      ...['mesh.underlay.green', 'mesh.outbound', 'mesh.captured', 'pool-less.green', 'underlay.database'],
      ...[
        'linkerd.watched-too.seen',
        'watched.watched-too',
        'linkerd.seen.unskipped',
        'linkerd.logged.unskipped',
        'cilium.watched.unskipped',
      ],
    ];
    const pairs = builtInNames.slice(1).map((name, at) => `${builtInNames[at]}.${name}`);
    for (const label of [...accepted, ...pairs]) {
      const names = policy.combineProfiles(label).map(({ name }) => name);
      assert.equal(names.join('.'), label);
    }
  });
});
