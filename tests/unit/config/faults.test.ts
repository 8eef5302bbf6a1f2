import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { invalid, refusal } from '../../support/configurations.ts';

/** What is wrong, the text after the first two lines of the file, and the expected faults. */
type Row = [what: string, text: string, ...faults: string[]];

const orId = '(never 0, which is root; or where the pod shows it: {annotation, containers, default})';
const orTarget =
  '(an IPv4 address and port such as 192.0.2.2:1404, or an IPv6 one such as [2001:db8::2]:1404)';
const noTarget =
  'is not allowed (a host and a port, such as db.shop.svc:5432, 10.96.0.10:53, [fd00::10]:53 or $(KUBERNETES_SERVICE_HOST):443)';
const noServer = 'is multicast, broadcast or link-local IPv6, where no connect succeeds';
const words = 'redirect, captured, interfaces, address, gateway, roundTrip, reach, policy';
const unknown = (allowed: string): string => `unknown field; allowed here: ${allowed}`;

const secrets = Array.from({ length: 101 }, (_, at) => `s${at}`);

/** Tests that each text is refused. `before` is prepended to each text, and `at` to each fault. */
function refused(rows: Row[], { before = '', at = '' } = {}): void {
  for (const [what, text, ...faults] of rows) {
    test(what, () => assert.equal(refusal(before + text), invalid(...faults.map((fault) => at + fault))));
  }
}

suite('a wrong configuration is refused with its file, line, path and what is allowed', () => {
  refused(
    [
      [
        'an unknown field',
        'proof:\n  mode: warn\n  images: x\n',
        `5: proof.images: ${unknown('mode, image, imagePullPolicy, imagePullSecrets, resources, allowOptOut')}`,
      ],
      [
        'an unknown section',
        'profile: []\n',
        `3: profile: ${unknown('apiVersion, kind, proof, gate, steer, repair, profiles, review')}`,
      ],
      [
        'more profiles or pull secrets than a policy evaluates',
        `profiles: [${'{name: a},'.repeat(101)}]\nproof: {imagePullSecrets: [${secrets}]}\n`,
        `4: proof.imagePullSecrets: must NOT have more than 100 items, is ["s0","s1","s2","s3","s4","s5","s6","s7","s8","s9","s10",... (Names of Secrets in the pod's own namespace, added to the pod's list.)`,
        '3: profiles: must NOT have more than 100 items, is [{"name":"a","when":{},"daemonSets":[],"annotations":{},"... (Networks. A profile with the name of a built-in profile replaces it.)',
      ],
      [
        'an unknown field of a condition',
        'profiles:\n  - name: a\n    when: {pod: b}\n',
        `5: profiles[0].when.pod: ${unknown('container, args, env, noContainer, labels, annotations, namespaceLabels')}`,
      ],
      [
        'a wrong type',
        'proof:\n  imagePullSecrets: mirror\n',
        `4: proof.imagePullSecrets: must be array, is "mirror" (Names of Secrets in the pod's own namespace, added to the pod's list.)`,
      ],
      [
        'a wrong value',
        'proof: {mode: strict}\n',
        '3: proof.mode: must be one of enforce, warn, is "strict"',
      ],
      [
        'resources that are not quantities',
        'proof:\n  resources:\n    requests: {cpu: lots, memory: -1Mi, gpu: 1}\n',
        `5: proof.resources.requests.gpu: ${unknown('cpu, memory, ephemeral-storage')}`,
        '5: proof.resources.requests.cpu: "lots" is not allowed (as in a pod, such as 50m or 64Mi)',
        '5: proof.resources.requests.memory: "-1Mi" is not allowed (as in a pod, such as 50m or 64Mi)',
      ],
      [
        'resources that no pod can have, or only at the cost of others',
        'proof:\n  resources:\n    requests: {cpu: 0, memory: 32Mi, ephemeral-storage: -1}\n    limits: {cpu: 1}\n',
        '5: proof.resources.requests.cpu: must be more than 0',
        '6: proof.resources.limits.cpu: is a whole number: in a Guaranteed pod, the static CPU manager would give the init container exclusive CPUs',
        '5: proof.resources.requests.memory: is more than limits.memory (24Mi)',
        '5: proof.resources.requests.ephemeral-storage: must be more than 0',
      ],
      [
        'a duration without a unit',
        'gate: {maxHold: 10 minutes}\n',
        '3: gate.maxHold: "10 minutes" is not allowed (a number and a unit, such as 500ms, 10s, 2m or 1h)',
      ],
      ...['0s', '99ms', '600001ms', '601s', '11m', '900h'].map(
        (timeout): Row => [
          `a time-out of ${timeout}`,
          `profiles: [{name: a, proof: {checks: [{gateway: {timeout: ${timeout}}}]}}]\n`,
          `3: profiles[0].proof.checks[0].gateway.timeout: "${timeout}" is not allowed (from 100ms to 10m, such as 500ms, 10s or 2m)`,
        ],
      ),
      [
        'two profiles of one name',
        'profiles:\n  - {name: linkerd}\n  - {name: mine}\n  - name: linkerd\n',
        '6: profiles[2].name: profile "linkerd" is already profiles[0]',
      ],
      ...['none', 'Upper', 'a.b'].map(
        (name): Row => [
          `the name ${name}`,
          `profiles:\n  - name: ${name}\n`,
          `4: profiles[0].name: "${name}" is not allowed (lower-case letters, digits and dashes, at most 63; 'none' is reserved)`,
        ],
      ),
    ],
    { at: 'cni-gate.yaml:' },
  );

  test('a file of another kind', () => {
    const [version, kind] = ['apiVersion: v1\n', 'kind: ConfigMap\n'];
    assert.equal(
      refusal(version + kind, true),
      invalid(
        'cni-gate.yaml:1: apiVersion: must be "cni-gate.io/v1alpha1", is "v1"',
        'cni-gate.yaml:2: kind: must be "Configuration", is "ConfigMap"',
      ),
    );
    assert.equal(
      refusal('kind: Configuration\n', true),
      invalid('cni-gate.yaml:1: the document: "apiVersion" is missing'),
    );
    assert.equal(refusal('[]\n', true), invalid('cni-gate.yaml:1: the document: must be object, is []'));
    assert.equal(refusal('', true), invalid('cni-gate.yaml:1: the document: must be object, is null'));
  });

  test('more than ten faults: ten are listed, the others counted', () => {
    const many = Array.from({ length: 13 }, (_, index) => `field-${index}: 1`).join('\n');
    const lines = refusal(many).split('\n');
    assert.deepEqual([lines.length, lines.at(-1)], [12, 'and 3 more']);
  });

  for (const [what, text, message] of [
    ['a mapping without an end', 'proof: {mode: warn\n', '4:1: not YAML: Flow map in block collection'],
    ['a tab', 'proof:\n\tmode: warn\n', '4:1: not YAML: Tabs are not allowed as indentation'],
    ['a key twice', 'kind: Twice\n', '3:1: not YAML: Map keys must be unique'],
    ['aliases that expand too much', aliases(12), '1:1: not YAML: Excessive alias count'],
  ] as const) {
    test(`${what} is not YAML`, () =>
      assert.ok(refusal(text).startsWith(`CNI_GATE_CONFIG_SYNTAX\ncni-gate.yaml:${message}`)));
  }
});

/** A chain of lists. Each list has ten aliases of the previous list. */
function aliases(levels: number): string {
  const lines = Array.from({ length: levels }, (_, index) => {
    const inner = index === 0 ? 'x' : `*l${index - 1}`;
    return `l${index}: &l${index} [${`${inner}, `.repeat(10)}]`;
  });
  return lines.join('\n');
}

const profile = 'profiles:\n  - name: a\n';
const listened = 'has a port that is listened on: it may be reached without the rule';
const stays = 'never leaves the pod: an outbound rule has nothing to do with it';

suite('a wrong check is refused', () => {
  const check = (what: string, text: string, ...faults: string[]): Row => [
    what,
    `proof: {checks: [${text}]}\n`,
    ...faults,
  ];
  refused(
    [
      check('no name', '{}', `: must be exactly one of ${words}, has nothing`),
      check(
        'two names',
        '{address: {}, gateway: {}}',
        `: must be exactly one of ${words}, has address, gateway`,
      ),
      check('an unknown name', '{ping: {}}', `.ping: ${unknown(words)}`),
      check('a missing port', '{reach: {host: db}}', '.reach: "port" is missing'),
      check(
        'a host with a character that no name has',
        '{reach: {host: "db\\x85", port: 1}}',
        '.reach.host: "db\x85" is not allowed (a name or an address, such as db.shop.svc, 10.96.0.10 or $(KUBERNETES_SERVICE_HOST))',
      ),
      check(
        'a port, a target and an id out of range',
        '{redirect: {listen: 70000, connect: [localhost:80, "[::g]:1"], asUser: 0}}',
        '.redirect.listen: must be <= 65535, is 70000',
        `.redirect.connect[0]: "localhost:80" is not allowed ${orTarget}`,
        `.redirect.connect[1]: "[::g]:1" is not allowed ${orTarget}`,
        `.redirect.asUser: must be >= 1, is 0 ${orId}`,
      ),
      check(
        'targets that are not addresses',
        '{redirect: {listen: 1, connect: ["192.0.2.999:1", "[::1]:99999", "[ff02::1]:2", "[::ffff:192.0.2.2]:1"]}}',
        '.redirect.connect[0]: "192.0.2.999:1" is no address and port',
        '.redirect.connect[1]: "[::1]:99999" is no address and port',
        `.redirect.connect[2]: "[ff02::1]:2" ${noServer}`,
        '.redirect.connect[3]: "[::ffff:192.0.2.2]:1" is no address and port',
      ),
      check(
        'outbound targets that can be reached without the rule',
        '{redirect: {listen: 4140, connect: ["192.0.2.2:4140", "127.9.0.1:80", "[::1]:80", "192.0.2.2:1404"]}}',
        `.redirect.connect[0]: "192.0.2.2:4140" ${listened}`,
        `.redirect.connect[1]: "127.9.0.1:80" ${stays}`,
        `.redirect.connect[2]: "[::1]:80" ${stays}`,
      ),
      check(
        'an inbound one',
        '{redirect: {direction: inbound, listen: 15006, connect: ["127.0.0.6:15006", "127.0.0.6:15002"]}}',
        `.redirect.connect[0]: "127.0.0.6:15006" ${listened}`,
      ),
      check(
        'one of a captured pod',
        '{captured: {listeners: [15008], outbound: 15001, connect: ["192.0.2.2:15001", "127.0.0.1:1"]}}',
        `.captured.connect[0]: "192.0.2.2:15001" ${listened}`,
        `.captured.connect[1]: "127.0.0.1:1" ${stays}`,
      ),
      check(
        'an id without a default, and without a source',
        '{redirect: {listen: 1, connect: ["192.0.2.2:2"], asUser: {containers: [p]}, notAsUser: {}}}',
        '.redirect.asUser: "default" is missing',
        `.redirect.notAsUser: must be ${orId.slice(1, -1)}, has nothing`,
      ),
      check(
        'policy without a condition in when, and with targets that prove nothing',
        '{policy: {blocked: ["db:1", "db:0", "127.0.0.1:1", "db:65536"], allowed: ["db:2", "db:1"]}}',
        '.policy: needs a condition in when, such as namespaceLabels: without a network policy, no pod ever passes',
        '.policy.blocked[1]: "db:0" is no host and port',
        '.policy.blocked[2]: "127.0.0.1:1" never leaves the pod: no policy applies',
        '.policy.blocked[3]: "db:65536" is no host and port',
        '.policy.allowed[1]: "db:1" is blocked and allowed',
      ),
      check(
        'policy without blocked',
        '{policy: {allowed: ["fd00::1:53"]}}',
        '.policy: "blocked" is missing',
        `.policy.allowed[0]: "fd00::1:53" ${noTarget}`,
      ),
    ],
    { before: `${profile}    `, at: 'cni-gate.yaml:5: profiles[0].proof.checks[0]' },
  );
});

/** Hosts of the check `policy`, by the fault that is reported, or under `accepted`. */
const hosts: Record<string, string[]> = {
  'is no host and port': [
    '[:::::]',
    '[::ffff:10.0.0.1]',
    '10.0.0.300',
    '010.0.0.1',
    '10.1',
    'a.1',
    '2130706433',
    '0X7F000001',
  ],
  [noServer]: ['[fe80::1]', '[ff02::1]', '224.0.0.1', '239.9.9.9', '255.255.255.255'],
  'never leaves the pod: no policy applies': ['localhost', 'a.LOCALHOST', '127.0.0.1', '[::1]', '0.0.0.0'],
  [noTarget]: [
    ...['[]', '[10.0.0.1]', '[abc]', '[fe80::1%eth0]', 'fd00::1', ' a', 'a ', 'a..b', 'a.-b', 'a-.b'],
    ...['$()', '$$(A)', '[$(A)]', '$(A).svc'],
  ],
  accepted: ['$(A)', '[fd00::1]', '10.0.0.1', '240.0.0.1', '3com', 'a.db1', 'A-1.b--c'],
};
for (const [fault, names] of Object.entries(hosts))
  test(`hosts of the check policy: ${fault}`, () => {
    for (const name of names) {
      const checks = `[{policy: {blocked: ["${name}:1"]}}]`;
      const when = '{namespaceLabels: {a: b}}';
      const seen = refusal(`profiles:\n  - {name: a, when: ${when}, proof: {checks: ${checks}}}\n`);
      const at = 'cni-gate.yaml:4: profiles[0].proof.checks[0].policy.blocked[0]';
      assert.equal(seen, fault === 'accepted' ? fault : invalid(`${at}: "${name}:1" ${fault}`));
    }
  });

suite('a wrong profile is refused', () => {
  const x64 = 'x'.repeat(64);
  const shown = `${'x'.repeat(56)}...`;
  const redirect = (rest: string): string => `{redirect: {listen: 1, connect: ["192.0.2.2:2"], ${rest}}}`;
  const container = '.proof.container:';
  refused(
    [
      [
        'a container and a label with names of 64 characters',
        `when: {container: ${x64}, labels: {${x64}: a}}\n`,
        `.when.container: "${shown} is not allowed (lower-case letters, digits and dashes, at most 63)`,
        `.when.labels.${x64}: is not a label or annotation key: at most 63 characters, after an optional DNS prefix and a slash`,
      ],
      [
        'families with two sources',
        'proof: {families: {container: a, env: A, dualStackEnv: B}}\n',
        '.proof.families: must be a container and one of env (a variable with the addresses that the proxy listens on, address:port separated by commas) and dualStackEnv (a variable that is true if the mesh serves both families), has container, env, dualStackEnv',
      ],
      [
        'an image with a space',
        'proof: {container: {image: a b}}\n',
        '.proof.container.image: "a b" is not allowed (Use this or imageOf.)',
      ],
      [
        'more checks than a policy evaluates',
        `proof: {checks: [${'{address: {}},'.repeat(21)}]}\n`,
        '.proof.checks: must NOT have more than 20 items, is [{"address":{"timeout":"10s"}},{"address":{"timeout":"10s...',
      ],
      [
        'policy, with one condition that holds for every pod',
        'proof: {checks: [{policy: {blocked: ["db:1"]}}]}\n    when: [{namespaceLabels: {a: b}}, {}]\n',
        '.proof.checks[0].policy: needs a condition in when, such as namespaceLabels: without a network policy, no pod ever passes',
      ],
      [
        'policy, with a condition of empty maps',
        'proof: {checks: [{policy: {blocked: ["db:1"]}}]}\n    when: {namespaceLabels: {}, annotations: {}}\n',
        '.proof.checks[0].policy: needs a condition in when, such as namespaceLabels: without a network policy, no pod ever passes',
      ],
      [
        'args and env without a container',
        'when: [{container: a, args: [b]}, {args: [b], env: {A: b}}]\n',
        ...['args', 'env'].map(
          (field) =>
            `.when[1]: must have property container when property ${field} is present, is {"args":["b"],"env":{"A":"b"}} (All fields must match.)`,
        ),
      ],
      [
        'a condition on what the injection sets',
        'when: {labels: {cni-gate.io/profile: a}}\n',
        '.when.labels["cni-gate.io/profile"]: is not allowed: it is for cni-gate',
      ],
      [
        'a condition on the label that opts in',
        'when: {namespaceLabels: {cni-gate.io/profile: a}}\n',
        '.when.namespaceLabels["cni-gate.io/profile"]: is not allowed: it is for cni-gate',
      ],
      [
        'evidence that no proof can give',
        'evidence: proof\n',
        '.evidence: needs proof.checks, proof.container or proof.witness: without them, no proof ever passes',
      ],
      [
        'a validator of its own beside checks',
        'proof: {checks: [{address: {}}], container: {image: a}}\n',
        `${container} replaces the validator that proof.checks needs: set one of the two`,
      ],
      ...['witness: kubelet', 'continuous: {}'].map(
        (setting): Row => [
          `a validator of its own beside ${setting}`,
          `proof: {${setting}, container: {image: a}}\n`,
          `${container} replaces the validator that proof.${setting.split(':')[0]} needs: set one of the two`,
        ],
      ),
      ...['999ms', '3601s', '2h'].map(
        (interval): Row => [
          `rechecks every ${interval}`,
          `proof: {witness: kubelet, continuous: {interval: ${interval}}}\n`,
          `.proof.continuous.interval: must be from 1s to 1h, is ${interval}`,
        ],
      ),
      [
        'rechecks with too few failures and an unknown action',
        'proof: {witness: kubelet, continuous: {failures: 2, onFailure: delete}}\n',
        '.proof.continuous.failures: must be >= 3, is 2 (How many consecutive rechecks must fail before the network counts as lost.)',
        '.proof.continuous.onFailure: must be one of log, unready, recreate, is "delete"',
      ],
      [
        'a validator of its own without an image',
        'proof: {container: {args: [a]}}\n',
        `${container} needs either image or imageOf`,
      ],
      [
        'the image of a container that may be absent',
        'proof: {container: {imageOf: proxy}}\n',
        '.proof.container.imageOf: "proxy" must be required by each condition of when (container: proxy), because its image is used',
      ],
      [
        'a name that no mesh gives its validator',
        'proof: {replaces: [app]}\n',
        '.proof.replaces[0]: must be one of linkerd-network-validator, is "app"',
      ],
      [
        'a replaced validator without a proof that does the same',
        `proof: {checks: [{address: {}}, ${redirect('direction: inbound')}], replaces: [linkerd-network-validator]}\n`,
        '.proof.replaces: needs a redirect check with direction outbound, or proof.container',
      ],
      [
        'a key that is none',
        'annotations: {a/b/c: x}\n',
        '.annotations["a/b/c"]: is not a label or annotation key: at most 63 characters, after an optional DNS prefix and a slash',
      ],
      [
        'an annotation of cni-gate',
        'annotations: {cni-gate.io/status: x}\n',
        '.annotations["cni-gate.io/status"]: must not be set: cni-gate writes it itself',
      ],
    ],
    { before: `${profile}    `, at: 'cni-gate.yaml:5: profiles[0]' },
  );
  refused(
    [
      [
        'checks that conflict',
        `proof: {checks: [${redirect('asUser: 5')}, ${redirect('asUser: 6')}]}\n`,
        ': at most one profile may require a user id, not "a" and "a"',
        ': two redirect checks bind port 1 (profile "a")',
      ],
      ...[
        'when: {container: V}\n    proof: {checks: [R], replaces: [V]}\n',
        'when: [{}, {noContainer: V}]\n    proof: {checks: [R], replaces: [V]}\n',
        `proof: {checks: [${redirect('notAsUser: {containers: [b, V]}')}], replaces: [V]}\n`,
        `proof: {checks: [${redirect('asUser: {containers: [V], default: 5}')}], replaces: [V]}\n`,
        'proof: {checks: [R], families: {container: V, env: A}, replaces: [V]}\n',
        'proof: {container: {image: b, notAsGroup: {containers: [V]}}, replaces: [V]}\n',
      ].map(
        (text): Row => [
          `a replaced container that the profile reads: ${text.replaceAll(/\s+/g, ' ')}`,
          text.replaceAll('V', 'linkerd-network-validator').replaceAll('R', redirect('notAsUser: 5')),
          ': profile "a" reads container "linkerd-network-validator", which profile "a" removes (proof.replaces)',
        ],
      ),
      [
        'a condition that its own annotation contradicts',
        'when: {annotations: {x: {exists: false}}}\n    annotations: {x: z}\n',
        ': profile "a" excludes pods with the annotation x, which profile "a" sets',
      ],
    ],
    { before: `${profile}    `, at: 'cni-gate.yaml:4: profiles[0]' },
  );
});
