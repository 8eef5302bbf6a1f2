import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { annotationsOf, type NamespaceFacts } from '../../../../webhook/core/facts/namespace.ts';
import type { Container, Pod, SecurityContext } from '../../../../webhook/core/facts/pod.ts';
import type { FamiliesSource, Identity, Profile } from '../../../../webhook/core/profiles/types.ts';
import { type ProofPlan, planFor } from '../../../../webhook/core/proof/plan.ts';
import { copyOf } from '../../../support/answers.ts';
import { policyOf } from '../../../support/configurations.ts';

// the golden cases show an ordinary pod of each kind; these tests cover the edge cases of what a plan reads from a pod
const policy = policyOf({ profiles: [{ name: 'seen', proof: { witness: 'kubelet' } }] });
const networks = 'k8s.v1.cni.cncf.io/networks';

interface Given {
  annotations?: Record<string, string>;
  spec?: Partial<Pod['spec']>;
  namespace?: NamespaceFacts['annotations'];
}

/** The plan for a pod to which these profiles apply. */
function planOf(
  profiles: (Partial<Profile> | string)[],
  { annotations = {}, spec, namespace }: Given,
): ProofPlan {
  const pod = { metadata: { annotations }, spec: { containers: [], ...spec } };
  const all = profiles.flatMap((profile, at): Profile[] => {
    if (typeof profile === 'string') return [policy.profiles.get(profile) ?? assert.fail(profile)];
    return [{ name: `p${at}`, when: {}, daemonSets: [], annotations: {}, proof: { checks: [] }, ...profile }];
  });
  const facts = { labels: {}, ...(namespace && { annotations: namespace }) };
  return planFor({ pod, namespace: facts }, all, policy.proof);
}

const [ipv4, ipv6] = ['192.0.2.2:1', '[2001:db8::2]:1'];
const redirect = (identity: Identity, ...connect: string[]): Pick<Profile, 'proof'> => ({
  proof: {
    checks: [{ redirect: { direction: 'outbound', listen: 2, connect, timeout: '1s', ...identity } }],
  },
});

suite('the families that a mesh serves', () => {
  const listen = { container: 'proxy', env: 'GIVEN' };
  const dual = { container: 'proxy', dualStackEnv: 'GIVEN' };

  /** The targets and families of a redirect in a pod whose proxy sets a variable to each of these values in turn. */
  function served(
    families: FamiliesSource | undefined,
    values: (string | undefined)[],
    targets = [ipv4, ipv6],
  ) {
    const env = values.map((value) => ({ name: 'GIVEN', ...(value !== undefined && { value }) }));
    const { checks } = redirect({}, ...targets).proof;
    const proof = { checks, ...(families && { families }) };
    const [check] = planOf([{ proof }], {
      spec: { containers: [{ name: 'app' }, { name: 'proxy', env }] },
    }).checks;
    assert.ok(check && 'redirect' in check);
    return [...check.redirect.connect, check.redirect.families].filter((text) => text !== undefined);
  }

  test('env: only IPv4 if all listeners are IPv4 addresses, and else every family', () => {
    for (const value of ['0.0.0.0:4143', '127.0.0.1:4140,10.0.0.1:4140'])
      assert.deepEqual(served(listen, [value]), [ipv4], value);
    for (const value of ['[::]:4143', '127.0.0.1:4140,[::1]:4140', 'localhost:4143', '', undefined])
      assert.deepEqual(served(listen, [value]), [ipv4, ipv6], value);
    assert.deepEqual(served(listen, ['[::1]:1', '0.0.0.0:1']), [ipv4], 'the last of two variables');
    assert.deepEqual(served(listen, ['0.0.0.0:1', undefined]), [ipv4, ipv6]);
  });

  test("dualStackEnv: Go's true values mean both families, anything else means one", () => {
    for (const value of ['1', 't', 'T', 'true', 'TRUE', 'True'])
      assert.equal(served(dual, [value]).at(-1), 'all', value);
    for (const value of ['0', 'false', '', 'yes', 'tRUE', ' true', undefined])
      assert.equal(served(dual, [value]).at(-1), 'first', value);
    assert.equal(served(dual, ['true', 'false']).at(-1), 'first', 'the last of two variables');
    assert.equal(served({ ...dual, container: 'other' }, ['true']).at(-1), 'first');
  });

  test('no container, no variable, no proof.families, or no target of the family: every target', () => {
    for (const source of [undefined, { ...listen, container: 'other' }, { ...listen, env: 'OTHER' }])
      assert.deepEqual(served(source, ['0.0.0.0:1']), [ipv4, ipv6]);
    assert.deepEqual(served(listen, ['0.0.0.0:1'], [ipv6]), [ipv6]);
  });
});

suite('the ids of a proof', () => {
  const key = 'mesh.example/uid';
  const source = { annotation: key, containers: ['first', 'second'], default: 7 };

  interface Ids {
    first?: SecurityContext;
    second?: SecurityContext | null;
    ofPod?: SecurityContext;
    annotation?: string;
    ofNamespace?: string;
  }

  const planWith = (given: Ids, ...identities: Identity[]): ProofPlan => {
    const { first, second, ofPod, annotation, ofNamespace } = given;
    const container = (name: string, securityContext?: SecurityContext | null): Container[] =>
      securityContext === undefined ? [] : [{ name, securityContext }];
    return planOf(
      identities.map((identity) => redirect(identity, ipv4)),
      {
        annotations: annotation === undefined ? {} : { [key]: annotation },
        ...(ofNamespace !== undefined && { namespace: { [key]: ofNamespace } }),
        spec: {
          initContainers: container('first', first),
          containers: container('second', second),
          ...(ofPod && { securityContext: ofPod }),
        },
      },
    );
  };
  /** The user and group IDs of a plan, without those that are undefined. */
  const ids = (given: Ids, identity: Identity = { asUser: source }) => copyOf(planWith(given, identity).ids);

  const users: [title: string, given: Ids, user: number][] = [
    ['nothing says one', {}, 7],
    ['the first container before the second', { first: { runAsUser: 1 }, second: { runAsUser: 2 } }, 1],
    ['the second container if the first has no user', { first: {}, second: { runAsUser: 2 } }, 2],
    ['null is none', { first: { runAsUser: null }, second: null, ofPod: { runAsUser: 3 } }, 3],
    ['a container before the pod', { second: { runAsUser: 2 }, ofPod: { runAsUser: 3 } }, 2],
    ["the pod's user if a container exists without one", { second: {}, ofPod: { runAsUser: 3 } }, 3],
    ["not the pod's user if none of the containers exists", { ofPod: { runAsUser: 3 } }, 7],
    ['root does not count, in a container', { first: { runAsUser: 0 }, second: { runAsUser: 2 } }, 2],
    ['a root container: not the user of the pod', { second: { runAsUser: 0 }, ofPod: { runAsUser: 3 } }, 7],
    ['root does not count, in the pod', { second: {}, ofPod: { runAsUser: 0 } }, 7],
    ['an annotation before a container', { annotation: '4', second: { runAsUser: 2 } }, 4],
    ["the pod's annotation before the namespace's", { annotation: '4', ofNamespace: '5' }, 4],
    ["an empty annotation is none: the namespace's", { annotation: '', ofNamespace: '5' }, 5],
    ['an annotation that is not an ID', { annotation: 'x', second: { runAsUser: 2 } }, 2],
    ['an annotation that is root', { annotation: '0' }, 7],
    ['an annotation below 0', { annotation: '-1' }, 7],
    ['an annotation above what Kubernetes takes', { annotation: '2147483648' }, 7],
    ['the greatest id', { annotation: '2147483647' }, 2147483647],
    ['an annotation of many digits', { annotation: '9'.repeat(30) }, 7],
  ];
  for (const [title, given, user] of users)
    test(`${title}: ${user}`, () => assert.equal(ids(given).asUser, user));

  test('the group of asUser comes from the same containers; 0 counts as absent', () => {
    const groupOf = (given: Ids, identity?: Identity) => ids(given, identity).asGroup;
    assert.equal(groupOf({ second: { runAsUser: 2, runAsGroup: 3 } }), 3);
    assert.equal(groupOf({ first: { runAsUser: 2, runAsGroup: 0 } }), 7);
    assert.equal(groupOf({ second: {}, ofPod: { runAsUser: 2, runAsGroup: 3 } }), 3);
    assert.equal(groupOf({}, { asUser: 5 }), undefined, 'a number implies no group');
    assert.equal(groupOf({ annotation: '4' }, { asUser: { annotation: key, default: 7 } }), undefined);
  });

  test('notAsUser and notAsGroup without a value exclude nothing', () => {
    const excluded = { notAsUser: { annotation: key }, notAsGroup: { containers: ['second'] } };
    const none = { notAsUsers: [], notAsGroups: [] };
    assert.deepEqual(ids({}, excluded), none);
    const ofPod = { runAsUser: 1000, runAsGroup: 1000 };
    assert.deepEqual(ids({ second: {}, ofPod }, excluded), none, "the pod's ids are the application's");
    const both = { notAsUsers: [4], notAsGroups: [6] };
    assert.deepEqual(ids({ annotation: '4', second: { runAsGroup: 6 } }, excluded), both);
  });

  test('the proof runs as the first id from `nobody` downwards that no mesh exempts', () => {
    const exempt = [{ notAsUser: 64_532 }, { notAsUser: 65_534 }, { notAsGroup: 65_533 }];
    assert.deepEqual(planWith({}, ...exempt).runAs, { runAsUser: 65_532, runAsGroup: 65_532 });
  });

  test("only a namespace's annotations with IDs, ports or subnets are kept, up to a limit", () => {
    const kept = { id: '+1', ports: '25, 1024-65535', subnets: '10.0.0.0/8,fd00::/8' };
    const all = { ...kept, b: 'x', c: 7, d: '', f: '9'.repeat(513) };
    assert.deepEqual(annotationsOf(all), { annotations: kept });
    for (const none of [undefined, null, {}, { a: 'x' }]) assert.deepEqual(annotationsOf(none), {});
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`a${at}`, String(at)]));
    assert.equal(Object.keys(annotationsOf(many).annotations ?? {}).length, 64);
  });
});

suite('the port of the probe is one that the mesh redirects', () => {
  const inbound = {
    port: 15006,
    excludedBy: ['skip'],
    includedBy: 'only',
    transparent: { mode: 'TPROXY' },
    neverRedirected: [4190, 4191, 15020],
  };
  const mesh = { proof: { checks: [], inbound } };
  const subnet = '192.168.50.0/24';
  const istio = (key: string, value: string) => ({ [`traffic.sidecar.istio.io/${key}`]: value });

  const cases: [string, Partial<Profile> | string, Record<string, string>, unknown[]][] = [
    ['all but those of linkerd itself', mesh, { skip: '1-4189,4192-65535' }, [14040]],
    ['only those of Istio itself', mesh, { only: '15006,15020' }, [14040]],
    [
      'a port, a subnet and another interface',
      mesh,
      { skip: `${subnet},14040, net1` },
      [14041, 15006, [subnet]],
    ],
    ['not for the proxy alone', mesh, { mode: 'REDIRECT' }, [14040, 15006]],
    ['for the proxy alone', mesh, { mode: 'TPROXY' }, []],
    ['a leading zero', mesh, { skip: '014040' }, [14041, 15006]],
    ['octal to iptables', mesh, { only: '01234,9080' }, [9080, 15006]],
    ['linkerd: ports', 'linkerd', { 'config.linkerd.io/skip-inbound-ports': '25' }, [14040, 4143]],
    ['linkerd: subnets', 'linkerd', { 'config.linkerd.io/skip-subnets': subnet }, [14040, 4143, [subnet]]],
    ['Istio: eth0', 'istio', istio('excludeInterfaces', 'net1, eth0'), [14040, 15006, ['0.0.0.0/0', '::/0']]],
    ['Istio: another interface', 'istio', istio('excludeInterfaces', 'net1'), [14040, 15006]],
    ['Istio: TPROXY', 'istio', { 'sidecar.istio.io/interceptionMode': 'TPROXY' }, []],
  ];
  for (const [what, profile, annotations, expected] of cases)
    test(what, () => {
      const { port, inbound: to, exempt } = planOf([profile, 'seen'], { annotations }).witness ?? {};
      assert.deepEqual(
        [port, to, exempt].filter((value) => value !== undefined),
        expected,
      );
    });
});

test('a pod requests devices if a container has a resource that not every node has', () => {
  for (const [resource, devices] of [
    ['ephemeral-storage', undefined],
    ['hugepages-2Mi', true],
  ] as const) {
    const containers = [{ name: 'app', resources: { limits: { [resource]: '1Gi' } } }];
    const { checks } = planOf(['multus'], { spec: { containers } });
    assert.deepEqual(copyOf(checks), [
      { profile: 'multus', interfaces: { timeout: '10s', ...(devices && { devices }) } },
    ]);
  }
});

test('the token is mounted only if every container mounts it, as the API server then would', () => {
  const path = '/var/run/secrets/kubernetes.io/serviceaccount';
  const volumeMounts = [{ name: 'kube-api-access-1', mountPath: path }];
  const withToken = (...containers: Container[]) =>
    planOf([], { spec: { volumes: [{ name: 'kube-api-access-1' }], containers } }).tokenMount?.mountPath;
  assert.equal(withToken({ name: 'a', volumeMounts }, { name: 'b', volumeMounts }), path);
  assert.equal(withToken({ name: 'a', volumeMounts }, { name: 'b' }), undefined);
});

suite('the port of the readiness probe is one that the mesh leaves alone', () => {
  const key = 'skip';
  const inbound = { port: 14_041, includedBy: 'only', neverRedirected: [14_042], excludedPorts: key };
  const watched: Partial<Profile> = {
    proof: {
      checks: [],
      witness: 'kubelet',
      continuous: { interval: '60s', failures: 3, onFailure: 'recreate', policy: false },
    },
  };
  const ports = (...all: number[]) => ({ ports: all.map((containerPort) => ({ containerPort })) });
  const everyPort = Array.from({ length: 65_535 }, (_, at) => at + 1);

  const cases: [what: string, mesh: object, given: Given, port: unknown, list?: string][] = [
    ['not the ports of the mesh', {}, {}, 14_043, '14043'],
    [
      'not the ports of containers',
      {},
      { spec: { initContainers: [{ name: 'a', ...ports(14_043) }] } },
      14_044,
      '14044',
    ],
    ['added to a list', {}, { annotations: { skip: ' 25,, 80-90 ,' } }, 14_043, '25,80-90,14043'],
    [
      'a list that ends with its first digits',
      {},
      { annotations: { skip: '140431' } },
      14_043,
      '140431,14043',
    ],
    ['a list with the port', {}, { annotations: { skip: 'x, 14043' } }, 14_043],
    ['a range with the port', {}, { annotations: { skip: '14000-15000' } }, 14_043],
    ['a list of the only ports', {}, { annotations: { only: '14040,14043', skip: 'x' } }, 14_044],
    ['an empty list of the only ports', {}, { annotations: { only: '' } }, 14_043],
    ['every port is listed', {}, { annotations: { only: '*' } }, 14_043, '14043'],
    ["a namespace's list that the mesh does not read", {}, { namespace: { skip: '14043' } }, 14_043, '14043'],
    ["a namespace's list", { inherited: true }, { namespace: { skip: '25' } }, 14_043, '25,14043'],
    [
      "the pod's list before its namespace's",
      { inherited: true },
      { annotations: { skip: '80' }, namespace: { skip: '25' } },
      14_043,
      '80,14043',
    ],
    ["a namespace's list with the port", { inherited: true }, { namespace: { skip: '14043' } }, 14_043],
    [
      'no list',
      { excludedPorts: undefined },
      { annotations: { skip: '14043' } },
      'profile "p0" has no proof.inbound.excludedPorts',
    ],
    ['octal to iptables', {}, { annotations: { skip: '014043' } }, 14_043, '014043,14043'],
    ['another form', {}, { annotations: { skip: '1-' } }, 'skip is no list of ports: "1-"'],
    [
      'no free port',
      {},
      { spec: { containers: [{ name: 'a', ...ports(...everyPort) }] } },
      'the pod has no free port for the readiness probe',
    ],
  ];
  for (const [what, changed, given, expected, list] of cases)
    test(what, () => {
      const mesh = { proof: { checks: [], inbound: { ...inbound, ...changed } } };
      const { continuous, annotations, warnings } = planOf([mesh, watched], given);
      assert.equal(
        continuous?.port ?? warnings.join().replace('proof.continuous is left out: ', ''),
        expected,
      );
      assert.equal(annotations.get(key), list);
    });

  test("Istio reads no list of a namespace, and linkerd's plugin does", () => {
    const listOf = (mesh: string, list: string) =>
      planOf([mesh, watched], { namespace: { [list]: '25' } }).annotations.get(list);
    assert.equal(listOf('istio', 'traffic.sidecar.istio.io/excludeInboundPorts'), '14041');
    assert.equal(listOf('linkerd', 'config.linkerd.io/skip-inbound-ports'), '25,14041');
  });

  test('no profile with a witness applies to the pod', () => {
    const { proof } = watched;
    const { witness: _, ...unseen } = proof ?? assert.fail();
    const { continuous, warnings } = planOf([{ proof: unseen }], {});
    assert.equal(continuous, undefined);
    assert.deepEqual(warnings, ['proof.continuous is left out: the kubelet is no witness of the pod']);
  });

  test('an annotation of a profile is not changed, and may already contain the port', () => {
    const mesh = { proof: { checks: [], inbound } };
    const planWith = (value: string) => planOf([mesh, watched, { annotations: { skip: value } }], {});
    assert.deepEqual([...planWith('14043').annotations], [[key, '14043']]);
    assert.equal(planWith('14043').continuous?.port, 14_043);
    assert.deepEqual(planWith('25').warnings, ['proof.continuous is left out: profile "p2" sets skip']);
    assert.deepEqual([...planWith('25').annotations], [[key, '25']]);
  });
});

suite("a profile's networks are added to the pod's comma-separated list", () => {
  const json = '[{"name":"a"}]';
  const cases: [pod: string, profile: string, expected: string, isKept?: true][] = [
    ['a', 'b', 'a, b'],
    [' a,b ', 'b, c', 'a, b, c'],
    [' a,b ', 'b', ' a,b '],
    ['', 'a, net/b@x', 'a, net/b@x'],
    ['a', json, 'a', true],
    [json, 'b', json, true],
    [json, json, json],
  ];
  for (const [pod, profile, expected, isKept] of cases)
    test(`${JSON.stringify(pod)} and ${JSON.stringify(profile)}`, () => {
      const given = { annotations: { [networks]: pod } };
      const { annotations, warnings } = planOf([{ annotations: { [networks]: profile } }], given);
      assert.equal(annotations.get(networks) ?? pod, expected);
      const kept = `profile p0: the pod's own ${networks} wins: "${pod}", not "${profile}"`;
      assert.deepEqual(warnings, isKept ? [kept] : []);
    });
});
