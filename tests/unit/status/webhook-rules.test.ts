import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { installedWebhooks } from '../../../webhook/lib/names.ts';
import { registeredSource } from '../../../webhook/status/collect/sources.ts';
import type { Registered } from '../../../webhook/status/facts.ts';
import {
  type ApiWebhookRules,
  changesOf,
  expectedWebhooks,
  webhookRules,
} from '../../../webhook/status/installation/webhook-rules.ts';
import { verbsOf } from '../../../webhook/status/verbs.ts';
import { policyOf } from '../../support/configurations.ts';

type Webhook = ApiWebhookRules & { name: string; clientConfig: { service: object; caBundle: string } };
type Kind = keyof typeof installedWebhooks;

const manifests = fileURLToPath(new URL('../../../manifests/', import.meta.url));

/** The webhooks of a kind in manifests/base, with a caBundle, as replicas write it. */
function webhooksOf(kind: Kind): Webhook[] {
  const { webhooks } = parse(readFileSync(`${manifests}base/${kind}-webhook.yaml`, 'utf8'));
  return webhooks.map((webhook: Webhook) => ({
    ...webhook,
    clientConfig: { ...webhook.clientConfig, caBundle: 'eA==' },
  }));
}

const kinds: Kind[] = ['mutating', 'validating'];

for (const kind of kinds) {
  test(`what is expected of ${kind} webhooks is what the manifests register`, () => {
    const webhooks = webhooksOf(kind);
    assert.deepEqual(
      webhooks.map(({ name }) => name),
      installedWebhooks[kind],
    );
    const now = webhooks.map((webhook) => [webhook.name, webhookRules(webhook)]);
    const expected = installedWebhooks[kind].map((name) => [name, expectedWebhooks[name]]);
    assert.deepEqual(expected, now, 'webhook-rules.ts needs the second of these');
  });
}

interface Manifest {
  kind?: string;
  webhooks?: object[];
  patches?: { target?: { kind?: string }; patch?: string }[];
}

test('overlays and components change nothing that is compared, except that they remove conditions', () => {
  const files = globSync('{overlays,components,compose}/**/*.yaml', { cwd: manifests });
  const documents = files.flatMap((file) =>
    parseAllDocuments(readFileSync(`${manifests}${file}`, 'utf8')).map(
      (document): Manifest => document.toJS() ?? {},
    ),
  );
  const configurations = documents.filter(({ kind }) => kind?.endsWith('WebhookConfiguration'));
  assert.ok(configurations.length >= 3, 'the patches were not found');
  const fields = configurations.flatMap(({ webhooks }) => (webhooks ?? []).flatMap(Object.keys));
  assert.deepEqual(
    fields.filter((field) => !['name', 'failurePolicy'].includes(field)),
    [],
  );
  const inline = documents
    .flatMap(({ patches }) => patches ?? [])
    .filter(({ target }) => target?.kind?.endsWith('WebhookConfiguration'));
  const operations = inline.flatMap(({ patch }) => parse(patch ?? ''));
  assert.ok(operations.length > 0, 'the component no-opt-out was not found');
  for (const { op, path } of operations) {
    assert.ok(op === 'test' || (op === 'remove' && /\/matchConditions\/\d+$/.test(path)), `${op} ${path}`);
  }
});

/** The verbs and the faults with webhooks in the API server as `change` leaves those of the manifests. */
function reported(change: (webhook: Webhook) => Webhook): { inForce: unknown[]; faults: string[] } {
  const metadata = { uid: 'u', name: 'cni-gate', resourceVersion: '1' };
  const registered = Object.fromEntries(
    kinds.map((kind) => [
      kind,
      registeredSource(kind).pick({ metadata, webhooks: webhooksOf(kind).map(change) } as never),
    ]),
  ) as unknown as Registered;
  const scheduler = { version: 'v1.36.3', goesByNominations: true };
  const unhindered = { hindered: { mutating: undefined, validating: undefined }, leaderless: undefined };
  const { verbs, faults } = verbsOf({ policy: policyOf({}), registered, scheduler }, unhindered, true);
  return {
    // repair depends on no webhook
    inForce: verbs.flatMap(({ verb, inForce }) => (verb === 'repair' ? [] : inForce)),
    faults: faults.map(({ code, message }) => `${code}: ${message}`),
  };
}

const all = [true, true, true];

suite('no difference', () => {
  const [mutating] = webhooksOf('mutating');
  const cases: Record<string, (webhook: Webhook) => Webhook> = {
    'the manifests as they are': (webhook) => webhook,
    'what the API server fills in': ({ matchPolicy: _, ...webhook }) => ({
      objectSelector: {},
      matchPolicy: 'Equivalent',
      ...webhook,
      namespaceSelector: webhook.namespaceSelector ?? {},
    }),
    'an empty field in place of a missing one': (webhook) => ({
      ...webhook,
      matchPolicy: null,
      objectSelector: webhook.objectSelector ?? null,
      namespaceSelector: webhook.namespaceSelector ?? null,
      matchConditions: webhook.matchConditions ?? null,
    }),
    'a failurePolicy and a timeout of ones own': (webhook) => ({
      ...webhook,
      failurePolicy: 'Ignore',
      timeoutSeconds: 5,
    }),
    'a condition that the component no-opt-out takes away': (webhook) => ({
      ...webhook,
      matchConditions: (webhook.matchConditions ?? []).filter(({ name }) => name !== 'not-opted-out'),
    }),
    'another Service, which is followed': (webhook) => ({
      ...webhook,
      clientConfig: {
        ...webhook.clientConfig,
        service: { ...webhook.clientConfig.service, namespace: 'net', name: 'gate' },
      },
    }),
    'a URL, with any path': (webhook) => ({
      ...webhook,
      clientConfig: { url: 'https://gate.example/somewhere', caBundle: 'eA==' } as never,
    }),
    'what Azure Kubernetes Service writes into every namespaceSelector': (webhook) => ({
      ...webhook,
      namespaceSelector: {
        matchExpressions: [
          { key: 'kubernetes.azure.com/managedby', operator: 'NotIn', values: ['aks'] },
          { key: 'control-plane', operator: 'NotIn', values: ['true'] },
          { key: 'control-plane', operator: 'DoesNotExist' },
          ...(webhook.namespaceSelector?.matchExpressions ?? []),
        ],
      },
    }),
  };
  for (const [name, change] of Object.entries(cases)) {
    test(name, () => assert.deepEqual(reported(change), { inForce: all, faults: [] }));
  }

  test('a rule without a scope equals one with the default scope', () => {
    assert.ok(mutating);
    const rules = (scope: object): string =>
      webhookRules({ ...mutating, rules: [{ resources: ['pods'], ...scope }] }).rules;
    assert.equal(rules({}), rules({ scope: '*' }));
    assert.notEqual(rules({}), rules({ scope: 'Cluster' }));
  });

  test('a webhook that is not ours', () => {
    assert.deepEqual(changesOf('somebody.example.com', webhookRules({ clientConfig: {} })), []);
  });
});

suite('a difference is a fault that names the webhook and the field', () => {
  const never = { matchLabels: { nobody: 'has-it' } };
  /** The field in words, the change, and whether the verbs are still in force. */
  const cases: [field: string, change: (webhook: Webhook) => Webhook, inForce: boolean][] = [
    ['objectSelector', (webhook) => ({ ...webhook, objectSelector: never }), false],
    ['namespaceSelector', (webhook) => ({ ...webhook, namespaceSelector: never }), false],
    [
      'matchConditions (never)',
      (webhook) => ({ ...webhook, matchConditions: [{ name: 'never', expression: 'false' }] }),
      false,
    ],
    [
      'rules',
      (webhook) => ({
        ...webhook,
        rules: (webhook.rules ?? []).map((rule) => ({ ...rule, operations: ['DELETE'] })),
      }),
      false,
    ],
    [
      'clientConfig.service.path',
      (webhook) => ({
        ...webhook,
        clientConfig: {
          ...webhook.clientConfig,
          service: { ...webhook.clientConfig.service, path: '/nope' },
        },
      }),
      false,
    ],
    ['matchPolicy', (webhook) => ({ ...webhook, matchPolicy: 'Exact' }), true],
  ];
  for (const [field, change, inForce] of cases) {
    const only =
      (names: readonly string[]) =>
      (webhook: Webhook): Webhook =>
        names.includes(webhook.name) ? change(webhook) : webhook;

    test(`${field} of the webhook for pods`, () => {
      const { faults, inForce: verbs } = reported(only(['pods.cni-gate.io']));
      assert.deepEqual(verbs, [inForce, true, true]);
      assert.equal(faults.length, 1);
      const start =
        'CNI_GATE_NOT_REGISTERED: mutatingwebhookconfiguration/cni-gate is not as in the manifests of cni-gate ';
      assert.ok(faults[0]?.startsWith(start), faults[0]);
      assert.ok(faults[0]?.includes(`: ${field} of pods.cni-gate.io. `), faults[0]);
      assert.match(faults[0] ?? '', /gate \d[^:]*: .* of pods\.cni-gate\.io\. Apply the manifests again; /);
    });

    test(`${field} of a webhook for bindings`, () => {
      const { faults, inForce: verbs } = reported(only(['bindings.cni-gate.io']));
      assert.deepEqual(verbs, [true, inForce, inForce]);
      assert.equal(faults.length, 1);
      assert.ok(faults[0]?.includes(`: ${field} of bindings.cni-gate.io. `), faults[0]);
    });

    test(`${field} of all webhooks`, () => {
      const { faults, inForce: verbs } = reported(change);
      assert.deepEqual(verbs, [inForce, inForce, inForce]);
      assert.equal(faults.length, 2);
    });
  }

  test('reinvocationPolicy: a pod that was proved before the mesh changed it', () => {
    const { faults, inForce } = reported(
      (webhook) => ({ ...webhook, reinvocationPolicy: 'Never' }) as Webhook,
    );
    assert.deepEqual(inForce, all);
    assert.equal(faults.length, 1);
    assert.match(faults[0] ?? '', /: reinvocationPolicy of pods\.cni-gate\.io\. /);
  });

  test('the webhook that only warns is not compared, because it may be missing', () => {
    const { faults } = reported((webhook) =>
      webhook.name === 'namespaces.cni-gate.io' ? { ...webhook, objectSelector: never } : webhook,
    );
    assert.deepEqual(faults, []);
  });
});
