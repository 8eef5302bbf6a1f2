import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { errorCodes } from '../../../webhook/lib/errors.ts';
import { listStatus } from '../../../webhook/status/collect/list.ts';
import { statusOf } from '../../../webhook/status/compose.ts';
import type { PodFacts, StatusFacts } from '../../../webhook/status/facts.ts';
import type { InstallationFacts, Observation } from '../../../webhook/status/installation/facts.ts';
import type { PartStatus, Status } from '../../../webhook/status/model.ts';
import { statusText } from '../../../webhook/status/text.ts';
import { policyOf } from '../../support/configurations.ts';
import { json, status as refusal, startFakeApi } from '../../support/fake-api-server.ts';
import { clusterWith } from '../gate/support.ts';
import { now } from '../readiness/objects.ts';
import { allRegistered, client, wholeInstallation } from './objects.ts';

const forbidden: Observation<never> = { unknown: { why: 'it may not be read', forbidden: true } };
const [service] = wholeInstallation.services;
assert.ok(service);
const [ofPods, ofAccount] = wholeInstallation.policies;
assert.ok(ofPods && ofAccount);
const deployment = { desired: 2, ready: 2, updated: 2, stuck: undefined };
const endpoints = (ready: number, all = 2, withPort = all): Partial<InstallationFacts> => ({
  services: [{ ...service, endpoints: { found: { all, withPort, ready } } }],
});
/** The policies with another binding of the one over pods. */
const binding = (more: object): Partial<InstallationFacts> => {
  const found = typeof ofPods.binding === 'object' && 'found' in ofPods.binding ? ofPods.binding.found : {};
  return { policies: [{ ...ofPods, binding: { found: { ...found, ...more } as never } }, ofAccount] };
};
const rules = (more: object): Partial<InstallationFacts> => {
  const found = typeof ofPods.policy === 'object' && 'found' in ofPods.policy ? ofPods.policy.found : {};
  return { policies: [{ ...ofPods, policy: { found: { ...found, ...more } as never } }, ofAccount] };
};

function judgement(
  installation: Partial<InstallationFacts>,
  more: Partial<StatusFacts> & { settings?: object } = {},
): Status {
  const { settings = {}, ...facts } = more;
  const profiles = [{ name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] }];
  const all: StatusFacts = {
    policy: policyOf({ profiles, ...settings }),
    registered: allRegistered,
    scheduler: { version: 'v1.36.3', goesByNominations: true },
    readiness: clusterWith({ n1: {} }),
    namespaces: [{ name: 'shop', profile: 'mesh' }],
    pods: [],
    installation: { ...wholeInstallation, ...installation },
    ...facts,
  };
  return statusOf(all, { client, configuration: 'cni-gate.yaml', now, all: false, namespace: undefined });
}

const codes = ({ faults }: Status): string[] => faults.map(({ code }) => code);
const partOf = ({ installation }: Status, part: PartStatus['part']): PartStatus => {
  const found = installation.find((one) => one.part === part);
  assert.ok(found, part);
  return found;
};
const firstLine = (status: Status): string => statusText(status, false).split('\n')[0] ?? '';

test('an installation in order is well', () => {
  const status = judgement({});
  assert.deepEqual([status.verdict, status.headline, codes(status)], ['well', 'All is well.', []]);
  assert.ok(status.installation.every(({ inOrder }) => inOrder === true));
  assert.equal(firstLine(status), 'All is well.');
});

suite('each fault has its code, and a first line that says so', () => {
  const stranger = 'it is signed by no authority of the caBundle';
  const distrusted = (...names: string[]): Partial<InstallationFacts> => ({
    certificate: {
      found: { secret: 'cni-gate/cni-gate-tls', webhooks: names.map((name) => ({ name, fault: stranger })) },
    },
  });
  const cases: Record<string, [Partial<InstallationFacts>, code: string, line: RegExp]> = {
    'a Deployment scaled to 0': [
      { deployment: { found: { ...deployment, desired: 0, ready: 0 } } },
      'CNI_GATE_DEPLOYMENT',
      /Deployment cni-gate\/cni-gate: it is scaled to 0 replicas, so every new pod .* is refused\. Run "kubectl/,
    ],
    'replicas that are not ready': [
      { deployment: { found: { ...deployment, ready: 1 } } },
      'CNI_GATE_DEPLOYMENT',
      /1 of 2 replicas are ready\. Look at/,
    ],
    'a rollout that got stuck': [
      { deployment: { found: { ...deployment, updated: 1, stuck: 'timed out progressing' } } },
      'CNI_GATE_DEPLOYMENT',
      /its rollout got stuck: timed out progressing/,
    ],
    'endpoints that are gone': [
      endpoints(0, 0),
      'CNI_GATE_NO_ENDPOINTS',
      /Service cni-gate\/cni-gate: it has no endpoint, so every new pod/,
    ],
    'endpoints that are not ready': [
      endpoints(0),
      'CNI_GATE_NO_ENDPOINTS',
      /none of its 2 endpoints is ready/,
    ],
    'endpoints without the port': [
      endpoints(0, 2, 0),
      'CNI_GATE_NO_ENDPOINTS',
      /none of its 2 endpoints has a TCP port for port 443, so every new pod .* is refused\. Compare/,
    ],
    'a Service that is gone': [
      {
        services: [
          { ...service, service: 'absent', endpoints: { found: { all: 0, withPort: 0, ready: 0 } } },
        ],
      },
      'CNI_GATE_NO_ENDPOINTS',
      /it does not exist, and webhooks call it, .* Apply the overlay again \(with Helm: "helm upgrade"\)/,
    ],
    'endpoints with another port than the replicas': [
      {
        services: [{ ...service, targetPorts: [9999] }],
        deployment: { found: { ...deployment, ports: [8443] } },
      },
      'CNI_GATE_NO_ENDPOINTS',
      /its endpoints have port 9999, and the replicas listen on 8443, so every new pod .* is refused\. Compare targetPort/,
    ],
    'a Service without the port': [
      { services: [{ ...service, port: 8443 }] },
      'CNI_GATE_NO_ENDPOINTS',
      /it has no port 8443, which webhooks call/,
    ],
    'a caBundle of a stranger': [
      distrusted('pods.cni-gate.io', 'bindings.cni-gate.io'),
      'CNI_GATE_CA_BUNDLE',
      /Secret cni-gate\/cni-gate-tls: .* for pods\.cni-gate\.io, bindings\.cni-gate\.io: it is signed by no/,
    ],
    'a policy that is gone': [
      { policies: [ofPods, { ...ofAccount, policy: 'absent' }] },
      'CNI_GATE_POLICY',
      /Policy service-account\.cni-gate\.io: it does not exist, so nothing but RBAC limits/,
    ],
    'a binding that is gone': [
      { policies: [{ ...ofPods, binding: 'absent' }, ofAccount] },
      'CNI_GATE_POLICY',
      /Policy pods\.cni-gate\.io: its binding does not exist/,
    ],
    'a binding that only warns': [
      binding({ actions: ['Warn', 'Audit'] }),
      'CNI_GATE_POLICY',
      /its binding does not deny \(validationActions: Warn, Audit\)/,
    ],
    'a binding of another policy': [
      binding({ policyName: 'other' }),
      'CNI_GATE_POLICY',
      /one of policy other/,
    ],
    'a binding that leaves objects out': [binding({ narrowed: true }), 'CNI_GATE_POLICY', /matchResources/],
    'a policy of earlier manifests, with parameters': [
      rules({ hasParams: true }),
      'CNI_GATE_POLICY',
      /it has a paramKind, .* so every pod .* may be refused.*delete validatingadmissionpolicybinding pods\.cni-gate\.io/,
    ],
    'rules that somebody changed': [
      rules({ digest: '0000' }),
      'CNI_GATE_POLICY',
      /its rules are not those of cni-gate \d.*If another release is installed/,
    ],
    'a condition that somebody added': [
      rules({ conditions: ['not-mine:0000'] }),
      'CNI_GATE_POLICY',
      /its matchConditions \(not-mine\) are not those/,
    ],
    'a Lease that nobody renews': [
      { lease: { found: { holder: 'x_1', renewed: now - 31_000, duration: 15_000 } } },
      'CNI_GATE_NO_LEADER',
      /x_1 holds it and has not renewed it since 2026-11-21T11:59:29Z, so pods that are refused are sent nowhere/,
    ],
    'a Lease that nobody holds': [
      { lease: { found: { holder: '', renewed: now, duration: 1000 } } },
      'CNI_GATE_NO_LEADER',
      /Lease cni-gate\/cni-gate-leader: nobody holds it/,
    ],
    'a Lease that is not there': [{ lease: 'absent' }, 'CNI_GATE_NO_LEADER', /no replica has led yet/],
  };
  for (const [name, [facts, code, line]] of Object.entries(cases)) {
    test(name, () => {
      const status = judgement(facts);
      assert.deepEqual([status.verdict, status.well, codes(status)], ['not-well', false, [code]]);
      assert.ok(code in errorCodes);
      assert.match(firstLine(status), /^Not all is well: /);
      assert.match(firstLine(status), line);
      assert.ok(firstLine(status).endsWith(`(${code})`));
    });
  }

  test('what blocks calls is the reason why nothing is in force', () => {
    const { verbs } = judgement(endpoints(0, 0));
    assert.deepEqual(
      verbs.map(({ verb, inForce }) => [verb, inForce]),
      [
        ['prove', false],
        ['gate', false],
        ['steer', false],
        ['repair', false],
      ],
    );
    assert.equal(verbs[0]?.why, 'Service cni-gate/cni-gate: it has no endpoint');
  });

  test('a foreign caBundle blocks the calls of its own webhook only', () => {
    const { verbs } = judgement(distrusted('bindings.cni-gate.io'));
    assert.deepEqual(
      verbs.map(({ inForce }) => inForce),
      // the last one is repair, which audits
      [true, false, false, false],
    );
    assert.match(
      verbs[1]?.why ?? '',
      /does not accept the certificate for bindings\.cni-gate\.io: it is signed by/,
    );
  });

  test('where no replica answers, the text says what happens to pods, by the failurePolicy', () => {
    const what = (failurePolicy: InstallationFacts['failurePolicy']): string =>
      partOf(judgement({ ...endpoints(0), failurePolicy }), 'service').what;
    assert.match(what('Fail'), /so every new pod of namespaces that opted in is refused$/);
    assert.match(what('Ignore'), /so new pods of namespaces that opted in start without a proof$/);
    assert.match(what(undefined), /are refused, or start without a proof$/);
  });

  test('failurePolicy Ignore is reported beside a Service and a policy that are in order', () => {
    const status = judgement({ failurePolicy: 'Ignore', ...rules({ failurePolicy: 'Ignore' }) });
    assert.deepEqual([status.verdict, codes(status)], ['well', []]);
    assert.match(
      partOf(status, 'service').what,
      /ready; failurePolicy Ignore: while none answers, new pods .* start without a proof$/,
    );
    assert.equal(
      partOf(status, 'policy').what,
      'bound: Deny; failurePolicy Ignore: an error in it refuses no pod',
    );
  });

  test('several faults: the first line has the gravest, the second counts them', () => {
    const status = judgement({
      ...endpoints(0, 0),
      lease: 'absent',
      deployment: { found: { ...deployment, desired: 0, ready: 0 } },
    });
    assert.deepEqual(codes(status), ['CNI_GATE_DEPLOYMENT', 'CNI_GATE_NO_ENDPOINTS', 'CNI_GATE_NO_LEADER']);
    const [first, second] = statusText(status, false).split('\n');
    assert.match(first ?? '', /CNI_GATE_DEPLOYMENT/);
    assert.equal(second, 'In all: faults: 3.');
  });
});

suite('states that are no fault', () => {
  const cases: Record<string, [Partial<InstallationFacts>, settings?: object]> = {
    'a replica more than asked for': [{ deployment: { found: { ...deployment, ready: 3 } } }],
    'a rollout that goes on': [{ deployment: { found: { ...deployment, updated: 1 } } }],
    'an endpoint that is not ready beside one that is': [endpoints(1)],
    'a Lease renewed late, or by a clock that is behind': [
      { lease: { found: { holder: 'x_1', renewed: now - 29_000, duration: 15_000 } } },
    ],
    'a Lease renewed by a clock that is ahead': [
      { lease: { found: { holder: 'x_1', renewed: now + 60_000, duration: 15_000 } } },
    ],
    'no leader where nothing is steered': [{ lease: 'absent' }, { steer: { mode: 'off' } }],
    'no leader where the gate only tells': [{ lease: 'absent' }, { gate: { mode: 'audit' } }],
    'a binding that only warns where the proof does too': [
      binding({ actions: ['Warn', 'Audit'] }),
      { proof: { mode: 'warn' } },
    ],
    'a condition that the component no-opt-out takes away': [rules({ conditions: [] })],
  };
  for (const [name, [facts, settings]] of Object.entries(cases)) {
    test(name, () => assert.deepEqual([judgement(facts, settings && { settings }).verdict], ['well']));
  }

  test('no leader where nothing is steered, and pods would be recreated: a fault that says so', () => {
    const settings = { steer: { mode: 'off' }, repair: { mode: 'recreate' } };
    const { faults } = judgement({ lease: 'absent' }, { settings });
    assert.deepEqual(
      faults.map(({ code }) => code),
      ['CNI_GATE_NO_LEADER'],
    );
    assert.match(faults[0]?.message ?? '', /, so pods whose proof failed are not recreated\./);
  });

  test('no Deployment, and endpoints that answer: the installation is run in another way', () => {
    const status = judgement({
      deployment: 'absent',
      certificate: { unknown: { why: 'there is no Deployment', forbidden: false } },
    });
    assert.equal(status.verdict, 'well');
    assert.match(
      firstLine(status),
      /^All is well, as far as it is known\. Not known: Deployment cni-gate\/cni-gate \(/,
    );
  });

  test('webhooks at a URL, or at an ExternalName Service: the text says what cannot be known', () => {
    const atUrl = judgement({ services: [], urls: ['https://gate.example/mutate'] });
    assert.equal(atUrl.verdict, 'well');
    assert.match(atUrl.headline, /URL https:\/\/gate\.example\/mutate \(.* only a probe shows/);
    const elsewhere = { found: { ports: [], externalName: 'gate.example' } };
    assert.equal(judgement({ services: [{ ...service, service: elsewhere }] }).verdict, 'well');
  });
});

suite('parts that may not be read', () => {
  const essential: Record<string, Partial<InstallationFacts>> = {
    'the Service': { services: [{ ...service, service: forbidden }] },
    'its EndpointSlices': { services: [{ ...service, endpoints: forbidden }] },
    'a policy': { policies: [{ ...ofPods, policy: forbidden }, ofAccount] },
    'a binding': { policies: [ofPods, { ...ofAccount, binding: forbidden }] },
  };
  for (const [name, facts] of Object.entries(essential)) {
    test(`${name}: it is not known whether all is well`, () => {
      const status = judgement(facts);
      assert.deepEqual([status.verdict, status.well, codes(status)], ['not-known', false, []]);
      assert.match(firstLine(status), /^It is not known whether all is well\. Not known: .*may not be read/);
      assert.equal(status.notKnown.length, 1);
    });
  }

  test('webhook configurations: it is not known whether all is well', () => {
    const status = judgement({}, { registered: { mutating: undefined, validating: undefined } });
    assert.equal(status.verdict, 'not-known');
    assert.equal(status.notKnown.length, 2);
  });

  const others: Record<string, Partial<InstallationFacts>> = {
    'the Deployment': { deployment: forbidden },
    'the Secret': { certificate: forbidden },
    'the Lease': { lease: forbidden },
  };
  for (const [name, facts] of Object.entries(others)) {
    test(`${name}: well, as far as it is known`, () => {
      const status = judgement(facts);
      assert.equal(status.verdict, 'well');
      assert.match(firstLine(status), /^All is well, as far as it is known\. Not known: .*may not be read/);
    });
  }

  test('known faults come before unknown parts', () => {
    const status = judgement({ ...endpoints(0), policies: [{ ...ofPods, policy: forbidden }, ofAccount] });
    assert.deepEqual([status.verdict, codes(status)], ['not-well', ['CNI_GATE_NO_ENDPOINTS']]);
  });
});

suite('a cluster without cni-gate', () => {
  const gone: Partial<InstallationFacts> = {
    deployment: 'absent',
    lease: 'absent',
    certificate: { unknown: { why: 'there is no Deployment', forbidden: false } },
    services: [{ ...service, service: 'absent', endpoints: { found: { all: 0, withPort: 0, ready: 0 } } }],
    policies: [ofPods, ofAccount].map(({ name }) => ({ name, policy: 'absent', binding: 'absent' })),
  };
  const registered = { mutating: [], validating: [] };

  test('is not installed, and has no other fault', () => {
    const status = judgement(gone, { registered, namespaces: [] });
    assert.deepEqual([status.verdict, codes(status)], ['not-installed', ['CNI_GATE_NOT_INSTALLED']]);
    assert.match(firstLine(status), /^cni-gate is not installed: /);
    assert.doesNotMatch(statusText(status, false), /All is well/);
  });

  test('the fault names namespaces that are still labelled', () => {
    assert.match(firstLine(judgement(gone, { registered })), /opted in: shop\./);
  });

  test('names what is left and how to remove it, in a few lines; nothing else is judged', () => {
    const plain: PodFacts[] = Array.from({ length: 200 }, (_, at) => {
      return {
        namespace: 'shop',
        name: `old-${at}`,
        node: 'n1',
        proof: 'unproved',
        unproved: 'not-reviewed',
      };
    });
    const policies = [
      { name: ofPods.name, policy: ofPods.policy, binding: 'absent' as const },
      { name: ofAccount.name, policy: 'absent' as const, binding: 'absent' as const },
    ];
    const status = judgement(
      { ...gone, policies, lease: wholeInstallation.lease, injected: { found: new Map([['shop', 2]]) } },
      {
        registered,
        readiness: clusterWith({ n1: { ready: false }, n2: undefined }),
        pods: plain,
      },
    );
    assert.deepEqual([status.verdict, codes(status)], ['not-installed', ['CNI_GATE_NOT_INSTALLED']]);
    const lines = statusText(status, false).split('\n').slice(1);
    assert.deepEqual(lines, [
      'Cluster: https://10.0.0.1:6443 (context production). cni-gate: client 0.1.0, server not installed',
      '',
      'LEFT BEHIND',
      'label cni-gate.io/profile of namespace shop: kubectl label namespaces shop cni-gate.io/profile-',
      'init container cni-gate-validator in 2 pods of namespace shop, which runs again when a node reboots: recreate the pods, as with "kubectl -n shop rollout restart deployment"',
      'validatingadmissionpolicy pods.cni-gate.io: kubectl delete validatingadmissionpolicy pods.cni-gate.io',
      'lease cni-gate-leader: kubectl delete -n cni-gate lease cni-gate-leader',
      '',
    ]);
    assert.ok(status.verbs.every(({ inForce }) => inForce === false));
    const { nodes, unprovedPods, failedPods } = status;
    assert.deepEqual([nodes, unprovedPods, failedPods], [[], [], []]);
  });

  test('injected pods are found in a namespace that lost its label; where pods may not be listed, that is said', async (t) => {
    const podIn = (namespace: string, at: number, container: string): object => ({
      metadata: { namespace, name: `web-${at}`, uid: `${namespace}-${at}`, resourceVersion: '1' },
      spec: { initContainers: [{ name: container }], containers: [] },
    });
    const items = [
      podIn('pay', 0, 'cni-gate-validator'),
      podIn('pay', 1, 'cni-gate-validator'),
      podIn('bank', 0, 'cni-gate-validator'),
      podIn('plain', 0, 'migrate'),
    ];
    const leftBehind = async (mayList: boolean): Promise<string[]> => {
      const api = await startFakeApi(t, ({ path, query }, response) => {
        if (path === '/version') return json(response, 200, { major: '1', minor: '36' });
        if (path !== '/api/v1/pods')
          return /\/cni-gate(?:-leader)?$/.test(path) || path.includes('.io/v1/validatingadmissionpolic')
            ? json(response, 404, refusal(404, 'NotFound', 'not found'))
            : json(response, 200, { metadata: { resourceVersion: '1' }, items: [] });
        assert.equal(query.labelSelector, 'cni-gate.io/profile');
        return mayList
          ? json(response, 200, { metadata: { resourceVersion: '1' }, items })
          : json(response, 403, refusal(403, 'Forbidden', 'pods is forbidden: User "x" cannot list pods'));
      });
      const wanted = { policy: policyOf({}), ownNamespace: 'cni-gate', namespace: undefined };
      const { installation, registered: none } = await listStatus(api.client, wanted);
      return judgement(installation, { registered: none, namespaces: [] }).leftBehind;
    };
    assert.match(
      (await leftBehind(true)).join('\n'),
      /^init container cni-gate-validator in 3 pods of namespaces bank, pay, which runs again .*"kubectl -n bank rollout restart deployment"$/,
    );
    assert.deepEqual(await leftBehind(false), [
      'init container cni-gate-validator: not known in which pods, as pods may not be read',
    ]);
  });

  test('a policy that stays behind is a fault: it rejects every pod', () => {
    const status = judgement({ ...gone, policies: wholeInstallation.policies }, { registered });
    assert.equal(status.verdict, 'not-well');
    assert.ok(codes(status).includes('CNI_GATE_NOT_REGISTERED'));
  });

  test('after break glass it is still installed, and missing parts are faults, with or without opted-in namespaces', () => {
    for (const namespaces of [[], [{ name: 'shop', profile: 'mesh' }]]) {
      const status = judgement({}, { registered, namespaces });
      assert.deepEqual(codes(status), ['CNI_GATE_NOT_REGISTERED', 'CNI_GATE_NOT_REGISTERED']);
    }
  });

  test('where webhooks may not be read, it is not known whether it is installed', () => {
    const status = judgement(gone, { registered: { mutating: undefined, validating: [] } });
    assert.notEqual(status.verdict, 'not-installed');
    assert.equal(status.well, false);
  });
});

suite('the result of the probe', () => {
  const probe = (outcome: NonNullable<StatusFacts['probe']>['outcome'], what = 'seen') => ({
    probe: { namespace: 'shop', outcome, what },
  });

  test('a pod with our container is well, and the second line says so', () => {
    const status = judgement({}, probe('injected'));
    assert.deepEqual([status.verdict, status.probe?.outcome], ['well', 'injected']);
    assert.equal(statusText(status, false).split('\n')[1], 'Probe in namespace shop: seen');
    assert.equal(judgement({}).probe, null);
  });

  test("a pod that failed is a fault, with the API server's words in the first line", () => {
    const status = judgement({}, probe('failed', 'failed calling webhook "pods.cni-gate.io": EOF'));
    assert.deepEqual([status.verdict, codes(status)], ['not-well', ['CNI_GATE_PROBE']]);
    assert.match(firstLine(status), /a new pod in namespace shop: failed calling webhook .*EOF/);
  });

  test('a pod that could not be created leaves it unknown whether all is well', () => {
    const status = judgement({}, probe('not-made', 'no right'));
    assert.equal(status.verdict, 'not-known');
    assert.match(firstLine(status), /the probe was not made: no right/);
  });

  test('an answer proves the certificate where every webhook has the same caBundle', () => {
    const hidden = { certificate: forbidden };
    assert.equal(partOf(judgement(hidden, probe('injected')), 'certificate').inOrder, true);
    assert.equal(partOf(judgement(hidden, probe('failed')), 'certificate').inOrder, null);
    const [first, ...others] = allRegistered.validating ?? [];
    assert.ok(first);
    const registered = { ...allRegistered, validating: [{ ...first, caBundle: 'eA==' }, ...others] };
    assert.equal(
      partOf(judgement(hidden, { ...probe('injected'), registered }), 'certificate').inOrder,
      null,
    );
  });
});
