import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { V1PodSpec } from '@kubernetes/client-node';
import { createAuthority, issueServing } from '../../../certs/issue.ts';
import { leftByThePolicy } from '../../../webhook/core/policies/conditions.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import type { CheckId } from '../../../webhook/report/judge/catalogue.ts';
import type { Result } from '../../../webhook/report/judge/row.ts';
import type { InstallationFacts, Webhook } from '../../../webhook/report/observe/installation.ts';
import type { Observation } from '../../../webhook/report/observe/observation.ts';
import { now } from '../core/networks/objects.ts';
import {
  absent,
  authority,
  base64,
  configured,
  deployment,
  type factsOf,
  forbidden,
  found,
  having,
  kubernetes,
  lease,
  mutatingPair,
  nothingInstalled,
  profiles,
  rowsIn,
  slice,
  wholeInstallation,
} from './objects.ts';

type More = Parameters<typeof factsOf>[0];
type Installed = Partial<InstallationFacts>;

const what = (id: CheckId, more?: More): string => rowsIn(id, more)[0]?.what ?? '';
const resultOf = (id: CheckId, more?: More): Result | undefined => rowsIn(id, more)[0]?.result;

/** An installation whose Service has this port. */
const servicePort = (more: object): Installed => ({
  service: found({ spec: { ports: [{ name: 'https', port: 443, targetPort: 'https', ...more }] } }),
});
const endpoints = (...sliced: Parameters<typeof slice>): Installed => ({ slices: found([slice(...sliced)]) });
const specIn = <T extends object>(seen: Observation<{ spec?: T }>): T => seen.found?.spec ?? ({} as T);
const { pods } = wholeInstallation.policies;
const policies = (more: object): Installed => ({
  policies: { ...wholeInstallation.policies, pods: { ...pods, ...more } },
});
const binding = (more: object) =>
  policies({ binding: found({ spec: { ...specIn(pods.binding), ...more } }) });
const spec = specIn(pods.policy);
const rules = (more: object) => policies({ policy: found({ spec: { ...spec, ...more } }) });
const images = (expression: string) =>
  rules({
    variables: spec.variables?.map((one) => (one.name === 'images' ? { ...one, expression } : one)),
  });
const constraints = (more: object) => rules({ matchConstraints: { ...spec.matchConstraints, ...more } });
const never = { matchLabels: { on: 'nothing' } };
const other = createAuthority({ days: 90, now: new Date(now) });
const old = createAuthority({ days: 1, now: new Date(now - 7 * 86_400_000) });
const secret = (certificate: string): Installed => ({
  secret: found({ data: { 'tls.crt': base64(certificate) } }),
});
/** A Deployment of two ready replicas whose pods have this spec. */
const deploymentOf = (spec: V1PodSpec) =>
  found({ ...deployment(), spec: { replicas: 2, selector: {}, template: { spec } } });
const ownFiles = deploymentOf({
  containers: [
    {
      name: 'cni-gate',
      args: ['--tls-cert', '/tls/a.crt'],
      volumeMounts: [{ name: 'v', mountPath: '/tls' }],
    },
  ],
  volumes: [{ name: 'v', secret: { secretName: 'own' } }],
});
const [ours = {} as Webhook] = wholeInstallation.mutating.found ?? [];
const webhook = (more: Partial<Webhook>): Installed => ({ mutating: found([{ ...ours, ...more }]) });
const policiesOnly: Installed = {
  ...nothingInstalled,
  policies: { ...nothingInstalled.policies, pods, mutating: mutatingPair() },
};
const invalid = new CniGateError('CNI_GATE_CONFIG_INVALID', 'config.yaml:\n  no mode lenient');

test('an installation in order passes every check', () => {
  assert.deepEqual(having('passed'), [
    ...['kubernetes-version', 'installed', 'configuration', 'webhooks', 'service', 'certificate'],
    ...['policy-pods', 'policy-service-account', 'leader', 'namespaces', 'daemonsets', 'nodes'],
    ...['held-pods', 'failed-proofs', 'waiting-pods', 'pods-without-proof', 'duplicate-addresses'],
  ]);
  for (const result of ['failed', 'warning', 'not-known'] as const) assert.deepEqual(having(result), []);
});

/** The check that fails, the facts that differ from those of a correct installation, and the check's message. */
const faults: [CheckId, Installed, RegExp][] = [
  ['webhooks', { mutating: found([]) }, /there is no webhook pods\.cni-gate\.io in mutatingwebhook/],
  ['webhooks', { mutating: absent }, /there is no webhook pods\.cni-gate\.io/],
  [
    'webhooks',
    { validating: found(wholeInstallation.validating.found?.slice(1) ?? []) },
    /^there is no webhook bindings\.cni-gate\.io in validating[^;]*$/,
  ],
  ['webhooks', webhook({ objectSelector: never }), /^objectSelector of pods/],
  ['webhooks', webhook({ namespaceSelector: never }), /^namespaceSelector of pods/],
  ['webhooks', webhook({ matchConditions: [] }), /^matchConditions of pods/],
  [
    'webhooks',
    webhook({ matchConditions: [...(ours.matchConditions ?? []), { name: 'x', expression: 'false' }] }),
    /^matchConditions of pods/,
  ],
  ['webhooks', webhook({ rules: [] }), /^rules of pods/],
  ['webhooks', webhook({ matchPolicy: 'Exact' }), /^matchPolicy of pods/],
  ['webhooks', webhook({ reinvocationPolicy: 'Never' }), /^reinvocationPolicy of pods/],
  [
    'webhooks',
    webhook({
      clientConfig: { ...ours.clientConfig, service: { name: 'cni-gate', namespace: 'x', path: '/mutate' } },
    }),
    /^clientConfig of pods/,
  ],
  ['service', endpoints(0, 0), /none of its 0 endpoints is ready.*, so new pods .* are refused$/],
  ['service', endpoints(0), /none of its 2 endpoints is ready/],
  ['service', endpoints(1, 2, []), /none of its 2 endpoints is ready with port https/],
  ['service', endpoints(2, 2, [{ name: 'metrics', port: 8443 }]), /is ready with port https/],
  ['service', { service: absent }, /it does not exist, and webhooks call it/],
  ['service', servicePort({ port: 8443 }), /it has no port 443/],
  [
    'certificate',
    secret(other.certificate),
    /^Secret cni-gate\/cni-gate-tls: .* for pods\.cni-gate\.io: .* and 2 more$/,
  ],
  ['certificate', { secret: absent }, /^Secret cni-gate\/cni-gate-tls: it does not exist/],
  ['certificate', { secret: found({}) }, /or has no key tls\.crt/],
  ['certificate', secret(old.certificate), /for pods\.cni-gate\.io: the certificate is in force from/],
  ['policy-pods', policies({ policy: absent }), /^pods\.cni-gate\.io: the policy does not exist/],
  ['policy-pods', policies({ binding: absent }), /its binding does not/],
  ['policy-pods', binding({ validationActions: ['Warn'] }), /does not deny \(validationActions: Warn\)/],
  ['policy-pods', binding({ policyName: 'x' }), /its binding is of another policy/],
  ['policy-pods', binding({ matchResources: { namespaceSelector: never } }), /has matchResources/],
  ['policy-pods', binding({ paramRef: { name: 'x' } }), /or paramRef/],
  ['policy-pods', images("['a/b:1'] + variables.inits.map(c, c.image)"), /variable images is not a list/],
  // to CEL, the first string is `', "`, a variable follows, and the rest is a comment
  ['policy-pods', images(`['\\', "', variables.inits[0].image]//"]`), /its variable images is not a list/],
  ['policy-pods', rules({ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }), /its paramKind are not/],
  ['policy-pods', rules({ validations: spec.validations?.slice(1) }), /its validations are not those/],
  ['policy-pods', rules({ variables: [{ name: 'status', expression: "'x'" }] }), /its variables are not/],
  ['policy-pods', constraints({ namespaceSelector: never }), /its matchConstraints are not/],
  ['policy-pods', rules({ matchConditions: spec.matchConditions?.slice(1) }), /its matchConditions are not/],
  [
    'policy-service-account',
    { policies: { ...wholeInstallation.policies, serviceAccount: { policy: absent, binding: absent } } },
    /^service-account\.cni-gate\.io: the policy does not exist/,
  ],
  [
    'leader',
    { lease: lease(31_000) },
    /x_1 has not renewed it since 2026-11-21T11:59:29.*, so refused pods are/,
  ],
  ['leader', { lease: lease(0, '') }, /no replica holds it/],
  ['leader', { lease: absent }, /no replica holds it/],
];
for (const [id, installation, text] of faults)
  test(`${id} fails, and nothing else: ${text}`, () => {
    assert.deepEqual(having('failed', { installation }), [id]);
    const [row] = rowsIn(id, { installation });
    assert.match(row?.what ?? '', text);
    assert.match(row?.code ?? '', /^CNI_GATE_/);
    assert.notEqual(row?.hint, '');
  });

suite('differences that are no fault', () => {
  const selector = ours.namespaceSelector?.matchExpressions ?? [];
  const cases: Record<string, Installed> = {
    'defaults of the API server in a webhook': webhook({ objectSelector: {}, matchPolicy: 'Equivalent' }),
    'a custom failurePolicy and timeout': webhook({ failurePolicy: 'Ignore', timeoutSeconds: 5 }),
    'what Azure Kubernetes Service writes into every namespaceSelector': webhook({
      namespaceSelector: {
        matchExpressions: [
          { key: 'kubernetes.azure.com/managedby', operator: 'NotIn', values: ['aks'] },
          { key: 'control-plane', operator: 'NotIn', values: ['true'] },
          { key: 'control-plane', operator: 'DoesNotExist' },
          ...selector,
        ],
      },
    }),
    'a Lease renewed late': { lease: lease(29_000) },
    'defaults of the API server in a policy': constraints({ matchPolicy: 'Equivalent', objectSelector: {} }),
    'endpoints in two slices, as of a Service with IPv4 and IPv6': { slices: found([slice(0), slice(2)]) },
    'ports without a name': { ...servicePort({ name: undefined }), ...endpoints(2, 2, [{ port: 8443 }]) },
  };
  for (const [name, installation] of Object.entries(cases))
    test(name, () => assert.deepEqual(having('failed', { installation }), []));

  test("a serving certificate of one's own, for the name of the Service", () => {
    const results = ['cni-gate.cni-gate.svc', 'other.cni-gate.svc'].map((name) => {
      const serving = issueServing(authority, { names: [name], days: 1, now: new Date(now) });
      return having('failed', {
        installation: {
          deployment: ownFiles,
          secret: found({ data: { 'a.crt': base64(serving.certificate) } }),
        },
      });
    });
    assert.deepEqual(results, [[], ['certificate']]);
  });

  test('a binding that only warns, if the proof does too, but not that of the policy over our account', () => {
    const { policies } = wholeInstallation;
    const warns = ({ policy, binding }: typeof pods) => ({
      policy,
      binding: found({ spec: { ...specIn(binding), validationActions: ['Warn', 'Audit'] } }),
    });
    const all = { ...policies, pods: warns(pods), serviceAccount: warns(policies.serviceAccount) };
    const configuration = configured({ profiles, proof: { mode: 'warn' } });
    const failures = having('failed', { installation: { policies: all }, configuration });
    assert.deepEqual(failures, ['policy-service-account']);
  });
});

suite('what may not be read is not known, never a pass', () => {
  const dark = forbidden('it');
  const cases: [CheckId, More][] = [
    ['kubernetes-version', { version: dark }],
    ['kubernetes-version', { version: absent }],
    ['webhooks', { installation: { mutating: dark } }],
    ['webhooks', { installation: { validating: dark } }],
    ['service', { installation: { service: dark } }],
    ['service', { installation: { slices: dark } }],
    ['certificate', { installation: { deployment: dark } }],
    ['certificate', { installation: { secret: dark } }],
    ['certificate', { installation: { deployment: ownFiles, secret: found({}) } }],
    ['certificate', { installation: { deployment: deploymentOf({ containers: [] }) } }],
    ['certificate', { installation: { mutating: dark } }],
    ['certificate', { installation: { validating: dark } }],
    // if RBAC does not allow reading the Deployment, `check` does not know whether a server should exist
    ['webhooks', { installation: { ...policiesOnly, deployment: dark } }],
    ['policy-pods', { installation: policies({ policy: dark }) }],
    ['policy-pods', { installation: policies({ binding: dark }) }],
    [
      'mutating-policy',
      {
        installation: {
          policies: { ...wholeInstallation.policies, mutating: { policy: dark, binding: dark } },
        },
      },
    ],
    ['leader', { installation: { lease: dark } }],
    ['namespaces', { namespaces: dark }],
    ['daemonsets', { namespaces: dark }],
    ['daemonsets', { daemonSets: dark }],
    ['daemonsets', { pods: dark }],
    ['probe', { probe: [], namespaces: dark }],
    ['nodes', { readiness: dark }],
    ['nodes', { namespaces: dark }],
    ['nodes', { pods: dark }],
    ['held-pods', { pods: dark }],
    ['failed-proofs', { pods: dark }],
    ['waiting-pods', { pods: dark }],
    ['pods-without-proof', { pods: dark }],
    ['duplicate-addresses', { pods: dark }],
  ];
  for (const [id, more] of cases)
    test(`${id}: ${Object.keys(more?.installation ?? more ?? {})}`, () =>
      assert.deepEqual(
        rowsIn(id, more).map(({ result }) => result),
        ['not-known'],
      ));

  for (const trouble of [{ invalid }, { unknown: 'it may not be read' }])
    test(`without the configuration, what depends on it is not known: ${Object.keys(trouble)}`, () => {
      const configuration = { ...configured({}), ...trouble };
      const namespaces = found([{ name: 'shop', profile: 'of-their-own' }]);
      const installation = binding({ validationActions: ['Warn'] });
      const open = having('not-known', { configuration, namespaces, installation });
      const expected: CheckId[] = ['policy-pods', 'namespaces', 'daemonsets', 'nodes'];
      assert.deepEqual(open, 'unknown' in trouble ? ['configuration', ...expected] : expected);
      for (const installation of [rules({ matchConditions: [] }), webhook({ matchConditions: [] })])
        assert.deepEqual(
          having('failed', { configuration, installation }),
          'invalid' in trouble ? ['configuration'] : [],
        );
      assert.ok(
        having('failed', { configuration, installation: policies({ policy: absent }) }).includes(
          'policy-pods',
        ),
      );
    });
});

test('an invalid configuration fails in one line, and a valid one shows the modes', () => {
  const configuration = { ...configured({}), invalid };
  assert.deepEqual(having('failed', { configuration }), ['configuration']);
  const text = 'replicas that start do not accept it: config.yaml:; no mode lenient';
  assert.equal(what('configuration', { configuration }), text);
  assert.match(
    what('configuration'),
    /^proof enforce, gate enforce, steer nominate, repair audit, by config\.yaml/,
  );
});

test('fewer ready replicas than requested are a warning; without a Deployment, endpoints count', () => {
  const cases: [Installed, Result, string][] = [
    [{ deployment: found(deployment(3)) }, 'warning', '2 of 3 replicas are ready'],
    [endpoints(1, 3), 'passed', '2 of 2 replicas are ready'],
    [{ deployment: absent, ...endpoints(1) }, 'warning', '1 of 2 endpoints are ready'],
    [{ deployment: forbidden('it') }, 'passed', '2 of 2 endpoints are ready'],
  ];
  for (const [installation, result, text] of cases) {
    const [row] = rowsIn('service', { installation });
    assert.deepEqual([row?.result, row?.what], [result, text]);
  }
});

test('a ConfigMap that does not exist is a warning if replicas need it', () => {
  const configuration = { ...configured({}), missing: 'config.yaml of ConfigMap cni-gate/cni-gate' };
  assert.deepEqual(having('warning', { configuration }), ['configuration']);
  assert.deepEqual(having('warning', { configuration, installation: { deployment: absent } }), []);
});

test('without webhooks, no certificate is called good', () =>
  assert.deepEqual(rowsIn('certificate', { installation: { mutating: absent, validating: absent } }), []));

test('a webhook without a caBundle, and one that calls another server, are not as in the manifests', () => {
  const clientConfig = { ...ours.clientConfig, caBundle: '' };
  // the message is the same if RBAC does not allow reading the certificate
  const more = { installation: { ...webhook({ clientConfig }), secret: forbidden('it') } };
  assert.match(what('webhooks', more), /^caBundle of pods/);
  const elsewhere = webhook({ clientConfig: { url: 'https://elsewhere/mutate' } });
  assert.match(what('webhooks', { installation: elsewhere }), /^clientConfig, caBundle of pods/);
  assert.equal(resultOf('certificate', { installation: elsewhere }), 'passed');
});

test('what an outage does depends on the failurePolicy', () => {
  const installation = { ...webhook({ failurePolicy: 'Ignore' }), ...endpoints(0) };
  assert.match(what('service', { installation }), /are refused if they need the server, or start without/);
});

test('kubernetes-version: too old fails, and without nominations warns', () => {
  const results = [29, 30, 34, 35].map((minor) =>
    resultOf('kubernetes-version', { version: kubernetes(minor) }),
  );
  assert.deepEqual(results, ['failed', 'warning', 'warning', 'passed']);
});

suite('proof.allowOptOut and the component no-opt-out have to agree', () => {
  const without = <T extends { name: string }>(conditions: T[] = []): T[] =>
    conditions.filter(({ name }) => name !== 'not-opted-out');
  for (const allowOptOut of [true, false])
    for (const [inWebhook, inPolicy] of [
      [true, true],
      [true, false],
      [false, true],
      [false, false],
    ] as const)
      test(`allowOptOut ${allowOptOut}, condition in webhook ${inWebhook}, in policy ${inPolicy}`, () => {
        const matchConditions = inWebhook ? ours.matchConditions : without(ours.matchConditions);
        const conditions = inPolicy ? spec.matchConditions : without(spec.matchConditions);
        const installation = {
          ...rules({ matchConditions: conditions }),
          mutating: found([{ ...ours, matchConditions }] as Webhook[]),
        };
        const configuration = configured({ proof: { allowOptOut } });
        const expected = [
          ...(inWebhook === allowOptOut ? [] : ['webhooks']),
          ...(inPolicy === allowOptOut ? [] : ['policy-pods']),
        ];
        assert.deepEqual(having('failed', { configuration, installation, namespaces: found([]) }), expected);
      });
});

suite('the mutating policy', () => {
  const pair = mutatingPair();
  const base = { configuration: configured({}), namespaces: found([]) };
  const mutating = (of: InstallationFacts['policies']['mutating'], more: Installed = {}): Installed => ({
    policies: { ...wholeInstallation.policies, mutating: of },
    ...more,
  });
  const relying = webhook({ matchConditions: [...(ours.matchConditions ?? []), leftByThePolicy] });
  const rulesOf = specIn(pair.policy);
  const changed = (more: object) => ({ ...pair, policy: found({ spec: { ...rulesOf, ...more } }) });
  const image = (name: string) => ({
    variables: rulesOf.variables?.map((one) =>
      one.name === 'image' ? { name: 'image', expression: `"${name}"` } : one,
    ),
  });
  const row = (installation: Installed, more: More = {}) =>
    rowsIn('mutating-policy', { ...base, ...more, installation })[0];

  test('of the configuration passes; without one, there is no such check', () => {
    assert.equal(row(mutating(pair, relying))?.result, 'passed');
    assert.deepEqual(having('failed', { ...base, installation: mutating(pair, relying) }), []);
    assert.equal(row({}), undefined);
  });

  test('a webhook that is also called for every pod is a warning', () => {
    assert.deepEqual(having('warning', { ...base, installation: mutating(pair) }), ['mutating-policy']);
    for (const none of [forbidden('it'), absent, found([])])
      assert.equal(row(mutating(pair, { mutating: none }))?.result, 'passed');
  });

  test('an invalid configuration: whether the policy agrees with it is not known', () =>
    assert.equal(
      row(mutating(pair), { configuration: { ...configured({}), invalid } })?.result,
      'not-known',
    ));

  const wrong: [name: string, Installed, RegExp, More?][] = [
    ['it is missing', mutating({ ...pair, policy: absent }), /the policy does not exist$/],
    ['its binding is missing', mutating({ ...pair, binding: absent }), /its binding does not exist/],
    ['the webhook relies on it', relying, /does not exist/],
    [
      'another image',
      mutating(changed(image('example/other'))),
      /injects the image "example\/other", and .* says "ghcr/,
    ],
    ['other mutations', mutating(changed({ mutations: [] })), /its mutations are not/],
    ['parameters', mutating(changed({ paramKind: { kind: 'ConfigMap' } })), /its paramKind are not/],
    [
      'another mode',
      mutating(pair),
      /its variables are not/,
      { configuration: configured({ proof: { mode: 'warn' } }) },
    ],
    [
      'another configuration',
      mutating(pair),
      /says "x\/y"/,
      { configuration: configured({ proof: { image: 'x/y' } }) },
    ],
  ];
  for (const [name, installation, text, more] of wrong)
    test(`${name}: fails, with what to do`, () => {
      const { result, code, what: seen = '', hint } = row(installation, more) ?? {};
      assert.deepEqual([result, code, hint === ''], ['failed', 'CNI_GATE_POLICY', false]);
      assert.match(seen, text);
    });

  test("the image of the Deployment's init container, or of the final policy, is the expected one", () => {
    const mirror = 'mirror.example/validator:1';
    const mirrored = changed(image(mirror));
    const spec = { containers: [], initContainers: [{ name: 'validator', image: mirror }] };
    const final = (name: string) => {
      const variables = [{ name: 'images', expression: `[${name}, 'x']` }];
      return { ...pods, policy: found({ spec: { ...specIn(pods.policy), variables } }) };
    };
    const of = (more: Installed, ofPods = pods) =>
      row({
        policies: { ...wholeInstallation.policies, mutating: mirrored, pods: ofPods },
        ...relying,
        ...more,
      })?.result;
    assert.equal(of({ deployment: found({ spec: { selector: {}, template: { spec } } }) }), 'passed');
    assert.equal(of({}, final(`'${mirror}'`)), 'passed');
    assert.equal(of({}, final(`"${mirror}"`)), 'passed');
    assert.equal(of({}, final("'example/other'")), 'failed');
    // if neither policy names an image, this check passes: another check reports that the final policy is missing
    assert.equal(of({}, { ...pods, policy: absent }), 'passed');
  });

  test('proof-only: checks of the server are left out, and what is not installed is named', () => {
    const only = (of: InstallationFacts['policies']['mutating']): More => ({
      ...base,
      namespaces: found([{ name: 'shop', profile: 'cilium' }]),
      installation: { ...nothingInstalled, policies: { ...nothingInstalled.policies, pods, mutating: of } },
    });
    assert.deepEqual([having('failed', only(pair)), having('not-known', only(pair))], [[], []]);
    assert.match(what('installed', only(pair)), /gate, steering and repair are not installed/);
    assert.match(what('configuration', only(pair)), /^proof enforce, by/);
    for (const id of [
      'webhooks',
      'service',
      'certificate',
      'policy-service-account',
      'leader',
      'daemonsets',
    ] as const)
      assert.deepEqual(rowsIn(id, only(pair)), []);
    assert.deepEqual(having('failed', only({ policy: absent, binding: absent })), ['mutating-policy']);
    for (const name of ['mutating', 'validating', 'deployment'] as const) {
      const { installation, ...more } = only(pair) ?? {};
      const rest = { ...installation, [name]: wholeInstallation[name] };
      assert.ok(having('failed', { ...more, installation: rest }).includes('webhooks'), name);
    }
  });
});

suite('whether cni-gate is installed', () => {
  test('if nothing is, that is all', () => {
    const more = { installation: nothingInstalled };
    assert.deepEqual(
      [having('failed', more), having('passed', more)],
      [['installed'], ['kubernetes-version']],
    );
    const [row] = rowsIn('installed', more);
    assert.match(row?.what ?? '', /so pods of namespaces that opted in are not checked: shop$/);
    assert.equal(row?.code, 'CNI_GATE_NOT_INSTALLED');
  });

  test('a binding of the policy over pods counts: alone, it refuses every pod', () => {
    const policies = { ...nothingInstalled.policies, pods: { policy: absent, binding: pods.binding } };
    const more = { installation: { ...nothingInstalled, policies } };
    assert.ok(!having('failed', more).includes('installed'));
    assert.deepEqual(having('failed', more).slice(0, 2), ['mutating-policy', 'policy-pods']);
  });

  test('what may not be read may exist', () => {
    const { policies } = nothingInstalled;
    const pair = { policy: absent, binding: forbidden('it') };
    for (const name of ['pods', 'mutating'])
      assert.equal(
        resultOf('installed', {
          installation: { ...nothingInstalled, policies: { ...policies, [name]: pair } },
        }),
        'not-known',
      );
    for (const name of ['mutating', 'validating', 'deployment', 'service'])
      assert.equal(
        resultOf('installed', { installation: { ...nothingInstalled, [name]: forbidden('it') } }),
        'not-known',
      );
  });
});
