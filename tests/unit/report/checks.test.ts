import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { leftByThePolicy } from '../../../webhook/core/policies/conditions.ts';
import type { CheckId } from '../../../webhook/report/judge/catalogue.ts';
import type { CheckResult } from '../../../webhook/report/judge/check-result.ts';
import type { InstallationFacts, Webhook } from '../../../webhook/report/observe/installation.ts';
import type { Observation } from '../../../webhook/report/observe/observation.ts';
import type { CheckFacts, LimitFacts } from '../../../webhook/report/observe/observe.ts';
import { now } from '../core/networks/objects.ts';
import {
  absent,
  allRegistered,
  checkFacts,
  configured,
  deployment,
  type Findings,
  findingsOf,
  forbidden,
  found,
  kubernetes,
  mutatingPair,
  nothingInstalled,
  slice,
  wholeInstallation,
} from './objects.ts';

const judge = (installation: Partial<InstallationFacts>, more: Partial<CheckFacts> = {}): Findings =>
  findingsOf(checkFacts({ installation: { ...wholeInstallation, ...installation }, ...more }));

const having = (findings: Findings, wanted: CheckResult['result']): string[] =>
  Object.entries(findings).flatMap(([id, { result }]) => (result === wanted ? id : []));

/** An installation whose Service has this EndpointSlice. */
const endpoints = (...sliced: Parameters<typeof slice>) => ({ slices: found([slice(...sliced)]) });
/** An installation whose Service has this port. */
const servicePort = (more: object) => ({
  service: found({
    spec: { selector: {}, ports: [{ name: 'https', port: 443, targetPort: 'https', ...more }] },
  }),
});
const replicas = (...of: Parameters<typeof deployment>) => ({ deployment: found(deployment(...of)) });
const { pods } = wholeInstallation.policies;
const policies = (more: object): Partial<InstallationFacts> => ({
  policies: { ...wholeInstallation.policies, pods: { ...pods, ...more } },
});
const specIn = <T extends object>(seen: Observation<{ spec?: T }>): T => seen.found?.spec ?? ({} as T);
const binding = (more: object) =>
  policies({ binding: found({ spec: { ...specIn(pods.binding), ...more } }) });
const spec = specIn(pods.policy);
const rules = (more: object) => policies({ policy: found({ spec: { ...spec, ...more } }) });
const constraints = (more: object) => rules({ matchConstraints: { ...spec.matchConstraints, ...more } });
const images = (expression: string) =>
  rules({
    variables: spec.variables?.map((one) => (one.name === 'images' ? { ...one, expression } : one)),
  });
const lease = (more: object) => ({
  lease: found({ holder: 'x_1', renewed: now - 31_000, duration: 15_000, ...more }),
});
const certificate = { secret: 'a/b', webhooks: [{ name: 'pods.cni-gate.io', fault: 'it is old' }] };
const stuck = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'late' };
const never = { matchLabels: { on: 'nothing' } };

test('an installation in order passes every check', () => {
  const findings = judge({});
  assert.deepEqual(having(findings, 'passed'), Object.keys(findings));
});

/** The check that fails, the facts that differ from those of a good installation, and the message of the check. */
const faults: [CheckId, Partial<InstallationFacts>, RegExp][] = [
  [
    'deployment',
    replicas(0, { replicas: 0 }),
    /^Deployment cni-gate\/cni-gate: 0 of 0 replicas are ready, so every new pod/,
  ],
  ['deployment', replicas(1), /1 of 2 replicas are ready$/],
  ['deployment', replicas(2, { updatedReplicas: 1, conditions: [stuck] }), /its rollout got stuck: late$/],
  ['service', endpoints(0, 0), /it has no endpoint, so every/],
  ['service', endpoints(0), /none of its 2 endpoints is ready/],
  ['service', endpoints(1, 2, []), /none of its 2 endpoints is ready with port https/],
  ['service', endpoints(2, 2, [{ name: 'metrics', port: 8443 }]), /is ready with port https/],
  ['service', { service: absent }, /it does not exist, and webhooks call it/],
  [
    'service',
    { elsewhere: ['pods.cni-gate.io'] },
    /webhooks pods\.cni-gate\.io call another server, so every/,
  ],
  ['service', servicePort({ port: 8443 }), /it has no port 443/],
  ['certificate', { certificate: found(certificate) }, /^Secret a\/b: .* for pods\.cni-gate\.io: it is old$/],
  ['policy-pods', policies({ policy: absent }), /it does not exist, so/],
  ['policy-pods', policies({ binding: absent }), /its binding does not/],
  ['policy-pods', binding({ validationActions: ['Warn'] }), /does not deny \(validationActions: Warn\)/],
  ['policy-pods', binding({ policyName: 'x' }), /its binding is of another policy/],
  ['policy-pods', binding({ matchResources: { namespaceSelector: never } }), /has matchResources/],
  ['policy-pods', binding({ paramRef: { name: 'x' } }), /or paramRef/],
  ['policy-pods', images("['a/b:1'] + variables.inits.map(c, c.image)"), /variable images is not a list/],
  // in CEL, the first string ends in the second one, and the rest is a variable and a comment
  ['policy-pods', images(`['\\', "', variables.inits[0].image]//"]`), /its variable images is not a list/],
  ['policy-pods', rules({ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }), /its paramKind are not/],
  [
    'policy-pods',
    rules({ validations: spec.validations?.slice(1) }),
    /its validations are not those of cni-gate/,
  ],
  ['policy-pods', rules({ variables: [{ name: 'status', expression: "'x'" }] }), /its variables are not/],
  ['policy-pods', constraints({ namespaceSelector: never }), /its matchConstraints are not/],
  [
    'policy-pods',
    rules({ matchConditions: [...(spec.matchConditions ?? []), { name: 'x', expression: 'false' }] }),
    /its matchConditions are not/,
  ],
  [
    'leader',
    lease({}),
    /x_1 holds it and has not renewed it since 2026-11-21T11:59:29Z, so refused pods are not/,
  ],
  ['leader', lease({ holder: '' }), /no replica holds it/],
  ['leader', { lease: absent }, /no replica holds it/],
];
for (const [id, installation, text] of faults)
  test(`${id} fails, and nothing else: ${text}`, () => {
    const findings = judge(installation);
    assert.deepEqual(having(findings, 'failed'), [id]);
    const { code, what = '', hint } = findings[id] ?? {};
    assert.match(what, text);
    assert.match(code ?? '', /^CNI_GATE_/);
    assert.notEqual(hint, '');
  });

suite('each fault around the installation fails only its own check', () => {
  const trouble = { code: 'CNI_GATE_CONFIG_INVALID', message: 'gate.mode' } as const;
  const cases: Partial<Record<CheckId, Partial<CheckFacts>>> = {
    'webhook-pods': { registered: { ...allRegistered, mutating: [] } },
    'webhook-bindings': { registered: { ...allRegistered, validating: allRegistered.validating?.slice(1) } },
    'server-rights': { serverRights: found({ asked: 2, missing: ['list nodes'] }) },
    'namespace-labels': { namespaces: found([{ name: 'shop', profile: 'cillium' }]) },
    daemonsets: { daemonSets: found([]) },
    configuration: { configuration: { ...configured({}), trouble } },
  };
  for (const [id, facts] of Object.entries(cases))
    test(id, () => assert.deepEqual(having(judge({}, facts), 'failed'), [id]));

  test('if nothing is installed, check says so, and does not judge the parts', () => {
    const findings = judge({}, { ...nothingInstalled, serverRights: absent });
    assert.equal(findings.installed?.code, 'CNI_GATE_NOT_INSTALLED');
    assert.deepEqual([findings.deployment, findings.probe], [undefined, undefined]);
  });
});

/** The fields in which, by the check's message, the webhook for pods differs from the manifests. */
function changedIn(more: Partial<Webhook>): string | undefined {
  const mutating = allRegistered.mutating?.map((webhook) => ({ ...webhook, ...more }));
  const { what = '' } = judge({}, { registered: { ...allRegistered, mutating } })['webhook-pods'] ?? {};
  return / of cni-gate \S+: (.*) of pods\.cni-gate\.io$/.exec(what)?.[1];
}
const [ours] = allRegistered.mutating ?? [];
assert.ok(ours);
const { clientConfig, rules: rulesOfPods, matchConditions, namespaceSelector } = ours;

suite('a webhook differs from the manifests in', () => {
  const cases: Record<string, Partial<Webhook>> = {
    objectSelector: { objectSelector: never },
    namespaceSelector: { namespaceSelector: never },
    matchConditions: { matchConditions: [{ name: 'never', expression: 'false' }] },
    rules: { rules: (rulesOfPods ?? []).map((rule) => ({ ...rule, operations: ['DELETE'] })) },
    clientConfig: {
      clientConfig: { ...clientConfig, service: { name: 'cni-gate', namespace: 'y', path: '/nope' } },
    },
    matchPolicy: { matchPolicy: 'Exact' },
  };
  for (const [field, more] of Object.entries(cases)) test(field, () => assert.equal(changedIn(more), field));
});

suite('no difference of a webhook', () => {
  const cases: Record<string, Partial<Webhook>> = {
    'defaults of the API server': { objectSelector: {}, matchPolicy: 'Equivalent' },
    'a custom failurePolicy and timeout': { failurePolicy: 'Ignore', timeoutSeconds: 5 },
    'a condition that the component no-opt-out removes': {
      matchConditions: (matchConditions ?? []).filter(({ name }) => name !== 'not-opted-out'),
    },
    'a URL, with any path': { clientConfig: { url: 'https://gate.example/somewhere' } },
    'what Azure Kubernetes Service writes into every namespaceSelector': {
      namespaceSelector: {
        matchExpressions: [
          { key: 'kubernetes.azure.com/managedby', operator: 'NotIn', values: ['aks'] },
          { key: 'control-plane', operator: 'NotIn', values: ['true'] },
          { key: 'control-plane', operator: 'DoesNotExist' },
          ...(namespaceSelector?.matchExpressions ?? []),
        ],
      },
    },
  };
  for (const [name, more] of Object.entries(cases))
    test(name, () => assert.equal(changedIn(more), undefined));
});

suite('no fault', () => {
  const cases: Record<string, Partial<InstallationFacts>> = {
    'one replica more than requested': replicas(3),
    'an endpoint that is not ready beside one that is': endpoints(1),
    'a Lease renewed late, or by a clock that is behind': lease({ renewed: now - 29_000 }),
    'defaults of the API server in a policy': constraints({
      matchPolicy: 'Equivalent',
      objectSelector: {},
    }),
    'endpoints in two slices, as of a Service with IPv4 and IPv6': { slices: found([slice(0), slice(1)]) },
    'ports without a name': { ...servicePort({ name: undefined }), ...endpoints(1, 2, [{ port: 8443 }]) },
  };
  for (const [name, installation] of Object.entries(cases))
    test(name, () => assert.deepEqual(having(judge(installation), 'failed'), []));

  test('a binding that only warns, if the proof does too', () => {
    const configuration = configured({ proof: { mode: 'warn' } });
    const findings = judge(binding({ validationActions: ['Warn', 'Audit'] }), { configuration });
    assert.deepEqual(having(findings, 'failed'), []);
  });

  test('what nothing in the cluster shows is skipped, as when replicas run in another way', () => {
    const certificate = found({ secret: '', webhooks: [], notShown: 'there is no Deployment' });
    const findings = judge({ deployment: absent, certificate }, { serverRights: absent });
    assert.deepEqual(having(findings, 'skipped'), ['deployment', 'certificate', 'server-rights']);
    assert.equal(judge({ url: 'https://gate.example/mutate', service: absent }).service?.result, 'skipped');
  });

  test('failurePolicy Ignore is mentioned beside passed checks', () => {
    const findings = judge({ failurePolicy: 'Ignore', ...rules({ failurePolicy: 'Ignore' }) });
    assert.match(findings.service?.what ?? '', /ready; while none is, new pods .* start/);
    assert.match(findings['policy-pods']?.what ?? '', /^bound: Deny; failurePolicy Ignore: /);
  });
});

suite('what may not be read is not known, never a pass', () => {
  const dark = forbidden('it');
  const { mutating: _, ...notMutating } = allRegistered;
  const cases: [CheckId, Partial<CheckFacts>, essential?: true][] = [
    ['service', { installation: { ...wholeInstallation, service: dark } }, true],
    ['service', { installation: { ...wholeInstallation, slices: dark } }, true],
    ['policy-pods', { installation: { ...wholeInstallation, ...policies({ binding: dark }) } }, true],
    ['namespace-labels', { namespaces: dark }, true],
    ['daemonsets', { namespaces: dark }],
    ['daemonsets', { daemonSets: dark }],
    ['resources', { namespaces: dark }],
    ['server-rights', { serverRights: dark }],
    ['deployment', { installation: { ...wholeInstallation, deployment: dark } }],
    ['certificate', { installation: { ...wholeInstallation, certificate: dark } }],
    ['leader', { installation: { ...wholeInstallation, lease: dark } }],
    ['opt-out', { registered: { ...notMutating, mutating: undefined } }],
    ['opt-out', { installation: { ...wholeInstallation, ...policies({ policy: dark }) } }],
    ['proof-mode', { pods: dark }],
    ['resources', { limits: dark }],
    ['probe', { probe: undefined }],
  ];
  for (const [id, facts, essential = false] of cases)
    test(`${id}, ${essential ? 'and there is no result' : 'and the rest determines the result'}`, () => {
      const finding = judge({}, facts)[id];
      assert.deepEqual([finding?.result, finding?.essential], ['not-known', essential]);
    });

  test('without the configuration, what it decides is not known', () => {
    const trouble = {
      code: 'CNI_GATE_CLUSTER_FORBIDDEN',
      message: 'cannot get',
      right: 'verb "get"',
    } as const;
    const configuration = { ...configured({}), trouble };
    const namespaces = found([{ name: 'shop', profile: 'of-their-own' }]);
    const findings = judge(binding({ validationActions: ['Warn'] }), { configuration, namespaces });
    const expected = 'configuration policy-pods opt-out namespace-labels daemonsets resources';
    assert.deepEqual(having(findings, 'not-known'), expected.split(' '));
    assert.match(findings.configuration?.what ?? '', /RBAC lacks verb "get"$/);
    const loose = judge(policies({ policy: absent }), { configuration });
    assert.deepEqual(having(loose, 'failed'), ['policy-pods']);
  });
});

test('an incomplete rollout is a warning: earlier replicas run, or the controller has not seen it', () => {
  const { deployment: shown } = judge(replicas(2, { updatedReplicas: 1 }));
  assert.match(shown?.what ?? '', /a rollout is not complete: 1 of 2 replicas are updated/);
  for (const status of [{ updatedReplicas: 1 }, { replicas: 3 }, { observedGeneration: 0 }]) {
    const rolling = { ...deployment(), status: { ...deployment().status, ...status } };
    assert.deepEqual(having(judge({ deployment: found(rolling) }), 'warning'), ['deployment']);
  }
});

test('a single replica is a warning if pods are refused while it restarts', () => {
  const one = replicas(1, { replicas: 1, updatedReplicas: 1 });
  const { result, what, hint } = judge(one).deployment ?? {};
  assert.equal(result, 'warning');
  assert.match(what ?? '', /one replica: while it restarts, every new pod .* is refused$/);
  assert.match(hint ?? '', /scale deployment cni-gate --replicas=2/);
  assert.equal(judge({ ...one, failurePolicy: 'Ignore' }).deployment?.result, 'passed');
});

suite('kubernetes-version', () => {
  const cases: [minor: number, CheckResult['result'], what: RegExp][] = [
    [29, 'failed', /^the API server is v1\.29\.4, and cni-gate needs 1\.30/],
    [30, 'warning', /^v1\.30\.4: refused pods are not steered, .* 1\.35$/],
    [35, 'passed', /^v1\.35\.4$/],
  ];
  for (const [minor, result, what] of cases)
    test(`1.${minor}: ${result}`, () => {
      const shown = judge({}, { version: kubernetes(minor) })['kubernetes-version'];
      assert.equal(shown?.result, result);
      assert.match(shown?.what ?? '', what);
    });
});

test('pods that prove in warn mode are a warning, unless the configuration warns as well', () => {
  const pod = { namespace: 'shop', name: 'web', proof: 'passed' as const };
  const pods = found([{ ...pod, warns: true as const }, pod]);
  const { result, what, hint } = judge({}, { pods })['proof-mode'] ?? {};
  assert.equal(result, 'warning');
  assert.match(what ?? '', /^1 pod in warn mode, /);
  assert.equal(hint, 'Recreate them: kubectl -n shop rollout restart deployment,statefulset,daemonset');
  const configuration = configured({ proof: { mode: 'warn' } });
  assert.equal(judge({}, { pods, configuration })['proof-mode'], undefined);
});

suite('proof.allowOptOut and the component no-opt-out have to agree', () => {
  const without = <T extends { name: string }>(conditions: T[] = []): T[] =>
    conditions.filter(({ name }) => name !== 'not-opted-out');
  const cases: [allowOptOut: boolean, inWebhook: boolean, inPolicy: boolean, text?: RegExp][] = [
    [true, true, true],
    [false, false, false],
    [false, true, true, /is false.* webhook pods\.cni-gate\.io and policy pods\.cni-gate\.io$/],
    [false, false, true, /^proof\.allowOptOut is false.* policy/],
    [false, true, false, /^proof\.allowOptOut is false.* webhook/],
    [true, false, false, /^proof\.allowOptOut is true/],
  ];
  for (const [allowOptOut, inWebhook, inPolicy, text] of cases)
    test(`allowOptOut ${allowOptOut}, condition in webhook ${inWebhook}, in policy ${inPolicy}`, () => {
      const conditions = inPolicy ? spec.matchConditions : without(spec.matchConditions);
      const mutating = [{ ...ours, ...(!inWebhook && { matchConditions: without(matchConditions) }) }];
      const findings = judge(rules({ matchConditions: conditions }), {
        configuration: configured({ proof: { allowOptOut } }),
        registered: { ...allRegistered, mutating },
      });
      assert.deepEqual(having(findings, 'failed'), text ? ['opt-out'] : []);
      if (text) assert.match(findings['opt-out']?.what ?? '', text);
    });
});

suite('resources of the init container that a namespace does not accept', () => {
  const metadata = { namespace: 'shop', name: 'small' };
  const small = (...ranges: object[]): LimitFacts => {
    const limits = ranges.map((range) => ({ type: 'Container', ...range }));
    return { kind: 'LimitRange', metadata, spec: { limits } };
  };
  const quota = (hard: Record<string, string>): LimitFacts => ({
    kind: 'ResourceQuota',
    metadata,
    spec: { hard },
  });
  const cases: Record<string, [limits: LimitFacts, text?: RegExp]> = {
    'a minimum': [
      small({ min: { cpu: '50m' } }),
      /^namespace shop, LimitRange small: min\.cpu is 50m, requests\.cpu 2m$/,
    ],
    'a maximum': [small({ max: { memory: '16Mi' } }), /max\.memory is 16Mi, limits\.memory 24Mi$/],
    'a ratio': [
      small({}, { maxLimitRequestRatio: { cpu: '5' } }),
      /maxLimitRequestRatio\.cpu is 5, limits\.cpu 20m and requests\.cpu 2m$/,
    ],
    'a quota of requests': [quota({ 'requests.memory': '1Mi' }), /\.memory is 1Mi, requests\.memory 4Mi$/],
    'a quota of requests, with short names': [quota({ cpu: '1m' }), / cpu is 1m, requests\.cpu 2m$/],
    'a quota of limits': [quota({ 'limits.cpu': '10m' }), /limits\.cpu is 10m, limits\.cpu 20m$/],
    'what fits': [
      small({ min: { cpu: '2m' }, max: { cpu: '1', memory: '24Mi' }, maxLimitRequestRatio: { cpu: '10' } }),
    ],
    'a quota that fits': [quota({ cpu: '10m', 'requests.cpu': '2m', 'limits.memory': '1Gi', pods: '0' })],
    'a range of whole pods': [small({ type: 'Pod', min: { cpu: '1' } })],
    'the range of a namespace that did not opt in': [
      { ...small({ min: { cpu: '1' } }), metadata: { ...metadata, namespace: 'lab' } },
    ],
  };
  for (const [name, [limits, text]] of Object.entries(cases))
    test(name, () => {
      const findings = judge({}, { limits: found([limits]) });
      assert.deepEqual(having(findings, 'failed'), text ? ['resources'] : []);
      if (text) assert.match(findings.resources?.what ?? '', text);
    });

  test('proof.resources makes them fit', () => {
    const resources = { requests: { cpu: '50m' }, limits: { cpu: '60m' } };
    const limits = found([small({ min: { cpu: '50m' }, maxLimitRequestRatio: { cpu: '2' } })]);
    const configuration = configured({ proof: { resources } });
    assert.equal(judge({}, { configuration, limits }).resources?.result, 'passed');
  });
});

test('a probe: a hint for each reason, and a probe that was not made is never a pass', () => {
  const probed = (outcome: 'failed' | 'not-made', reason: string, more: Partial<CheckFacts> = {}) =>
    judge({}, { probe: { namespace: null, outcome, what: 'no', reason } as never, ...more }).probe;
  const reasons = ['refused', 'silence', 'not-called', 'changed'];
  const hints = new Set(reasons.map((reason) => probed('failed', reason)?.hint));
  assert.equal(hints.size, reasons.length);
  for (const reason of ['rights', 'other']) {
    const { result, essential } = probed('not-made', reason) ?? {};
    assert.deepEqual([result, essential], ['not-known', true]);
  }
  const dark = { namespaces: forbidden('namespaces') };
  assert.equal(probed('not-made', 'no-namespace', { namespaces: found([]) })?.result, 'skipped');
  assert.equal(probed('not-made', 'no-namespace', dark)?.result, 'not-known');
});

suite('the mutating policy', () => {
  const version = kubernetes(36);
  const judgeWith = (
    mutating: InstallationFacts['policies']['mutating'],
    more: Partial<CheckFacts> = {},
  ): Findings => judge({ policies: { ...wholeInstallation.policies, mutating } }, { version, ...more });
  const row = (...of: Parameters<typeof judgeWith>): Partial<CheckResult> =>
    judgeWith(...of)['mutating-policy'] ?? {};
  const none = { policy: absent, binding: absent };
  const pair = mutatingPair();
  const [rules, binding] = [specIn(pair.policy), specIn(pair.binding)];
  const changed = (more: object) => ({ ...pair, policy: found({ spec: { ...rules, ...more } }) });
  const image = (name: string) => ({
    variables: rules.variables?.map((one) =>
      one.name === 'image' ? { name: 'image', expression: `"${name}"` } : one,
    ),
  });
  const [webhook = {} as Webhook] = allRegistered.mutating ?? [];
  const relying = {
    ...allRegistered,
    mutating: [{ ...webhook, matchConditions: [...(webhook.matchConditions ?? []), leftByThePolicy] }],
  };

  test('an invalid configuration: whether the policy agrees with it is not known', () => {
    const trouble = { code: 'CNI_GATE_CONFIG_INVALID', message: 'gate.mode' } as const;
    assert.equal(row(pair, { configuration: { ...configured({}), trouble } }).result, 'not-known');
  });

  test('no policy: not mentioned before 1.36, and a warning since', () => {
    assert.equal(judge({})['mutating-policy'], undefined);
    assert.partialDeepStrictEqual(row(none), { result: 'warning' });
    assert.match(row(none).hint ?? '', /strict-policies/);
  });

  test('the policy of the configuration', () => {
    const findings = judgeWith(pair, { registered: relying });
    assert.deepEqual(having(findings, 'passed'), Object.keys(findings));
    // as after a change from policies back to the webhook: during an outage, all pods are refused
    assert.partialDeepStrictEqual(row(pair), { result: 'warning' });
    assert.match(row(pair).what ?? '', /the webhook is called for every pod too/);
  });

  const wrong: [name: string, Parameters<typeof judgeWith>, RegExp][] = [
    ['it is missing', [{ ...pair, policy: absent }], /it does not exist, so it injects nothing$/],
    ['its binding is missing', [{ ...pair, binding: absent }], /its binding does not exist/],
    ['the webhook relies on it', [none, { registered: relying }], /it does not exist/],
    [
      'of another policy',
      [{ ...pair, binding: found({ spec: { ...binding, policyName: 'x' } }) }],
      /another policy/,
    ],
    [
      'another image',
      [changed(image('example/other'))],
      /injects the image "example\/other", and .* says "ghcr/,
    ],
    ['other variables', [changed({ variables: rules.variables?.slice(0, -1) })], /its variables are not/],
    ['no match condition', [changed({ matchConditions: [] })], /its conditions are not/],
    ['other mutations', [changed({ mutations: [] })], /its mutations are not/],
    ['other namespaces', [changed({ matchConstraints: {} })], /its matchConstraints are not/],
    [
      'another mode',
      [pair, { configuration: configured({ proof: { mode: 'warn' } }) }],
      /its variables are not/,
    ],
    [
      'another configuration',
      [pair, { configuration: configured({ proof: { image: 'x/y' } }) }],
      /says "x\/y"/,
    ],
  ];
  for (const [name, args, text] of wrong)
    test(`${name}: fails, with what to do`, () => {
      const { result, code, what, hint } = row(...args);
      assert.deepEqual([result, code, hint === ''], ['failed', 'CNI_GATE_POLICY', false]);
      assert.match(what ?? '', text);
    });

  test("the image of the Deployment's init container, or of the final policy, is the expected one", () => {
    const mirror = 'mirror.example/validator:1';
    const of = (more: Partial<InstallationFacts>): string | undefined =>
      judge({ ...wholeInstallation, ...more }, { version, registered: relying })['mutating-policy']?.result;
    const mutating = changed(image(mirror));
    const base = deployment();
    const spec = { ...base.spec?.template.spec, initContainers: [{ name: 'validator', image: mirror }] };
    const ours = { ...base, spec: { ...base.spec, template: { spec } } } as typeof base;
    const final = (name: string) => {
      const variables = [{ name: 'images', expression: `[${name}, 'x']` }];
      return { ...pods, policy: found({ spec: { ...specIn(pods.policy), variables } }) };
    };
    const installed = { ...wholeInstallation.policies, mutating };
    assert.equal(of({ policies: installed, deployment: found(ours) }), 'passed');
    assert.equal(of({ policies: { ...installed, pods: final(`'${mirror}'`) } }), 'passed');
    assert.equal(of({ policies: { ...installed, pods: final(`"${mirror}"`) } }), 'passed');
    assert.equal(of({ policies: { ...installed, pods: final("'example/other'") } }), 'failed');
    // if neither names an image, this check passes: another check reports that the final policy is missing
    assert.equal(of({ policies: { ...installed, pods: { ...pods, policy: absent } } }), 'passed');
  });

  test('proof-only: checks of the server are left out, and what is not installed is named', () => {
    const { registered, installation } = nothingInstalled;
    const only = (mutating: InstallationFacts['policies']['mutating']): Findings =>
      findingsOf(
        checkFacts({
          version,
          registered,
          serverRights: absent,
          installation: { ...installation, policies: { ...installation.policies, pods, mutating } },
        }),
      );
    const findings = only(pair);
    const others = Object.keys(findings).filter((id) => id !== 'daemonsets');
    assert.deepEqual([having(findings, 'passed'), having(findings, 'skipped')], [others, ['daemonsets']]);
    assert.match(findings.installed?.what ?? '', /gate, steering and repair are not installed/);
    assert.deepEqual(
      [findings.deployment, findings.leader, findings['webhook-pods']],
      [undefined, undefined, undefined],
    );
    assert.deepEqual(having(only(none), 'failed'), ['mutating-policy']);
  });

  test('the effect of an outage is named', () => {
    const policies = { ...wholeInstallation.policies, mutating: pair };
    const what = (failurePolicy: 'Fail' | 'Ignore'): string =>
      judge({ policies, failurePolicy, ...endpoints(0) }, { version }).service?.what ?? '';
    assert.match(what('Ignore'), /so new pods .* that need the server are refused$/);
    // a webhook that is called for every pod, after a change back from policies
    assert.match(what('Fail'), /so every new pod .* is refused$/);
  });
});
