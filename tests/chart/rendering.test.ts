import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import { templates, valuesSchema } from '../../release/chart/chart.ts';
import {
  idOf,
  type KubernetesObject,
  type Kustomization,
  kustomize,
  objectsOf,
} from '../../release/kustomize.ts';
import { policiesYaml, policyObjects } from '../../webhook/core/policies/policy.ts';
import { messageOf } from '../../webhook/lib/errors.ts';
import { validatorImage } from '../../webhook/lib/version.ts';
import { policyOf } from '../support/configurations.ts';
import { chart, helm } from './programs.ts';

/* Helm renders the same objects from the chart as kubectl from the kustomize manifests. */

const namespace = ['--namespace', 'cni-gate'];

/** Renders the chart with Helm. @param values values of the chart; they are passed as JSON, which is also YAML */
const template = (values: object, more: string[] = []): Promise<string> =>
  helm(
    ['template', 'cni-gate', chart, ...namespace, '--skip-tests', '--values', '-', ...more],
    JSON.stringify(values),
  );

interface Variant {
  name: string;
  values: { configuration?: object; [name: string]: unknown };
  kustomization: Kustomization;
}

/** A kustomization that patches the overlay's configuration with `more`, as a user's patch would. */
async function withConfiguration(kustomization: Kustomization, more: object): Promise<Kustomization> {
  if (Object.keys(more).length === 0) return kustomization;
  const own = comparable(await kustomize({ overlay: kustomization.overlay }))['ConfigMap/cni-gate'];
  const data = own?.data as { 'config.yaml': Record<string, unknown> };
  const merged = Object.entries(more).map(([section, value]) => [
    section,
    Array.isArray(value) ? value : { ...(data['config.yaml'][section] ?? {}), ...value },
  ]);
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cni-gate', namespace: 'cni-gate' },
    data: { 'config.yaml': JSON.stringify({ ...data['config.yaml'], ...Object.fromEntries(merged) }) },
  };
  const { fields = {} } = kustomization;
  const patches = [...((fields.patches as object[] | undefined) ?? []), { patch: JSON.stringify(configMap) }];
  return { ...kustomization, fields: { ...fields, patches } };
}

const profiles = [
  {
    name: 'fabric',
    daemonSets: [{ namespace: 'net', name: 'fabric' }],
    proof: { container: { image: 'example/validator:1' } },
  },
];
/** A patch that sets the images that the policy for the final pod accepts, as in the guide. */
const imagesOfPolicy = (value: string): object => ({
  target: { kind: 'ValidatingAdmissionPolicy', name: 'pods.cni-gate.io' },
  patch: JSON.stringify([{ op: 'replace', path: '/spec/variables/0/expression', value }]),
});
const onDeployment = (patch: object[]): object => ({
  target: { kind: 'Deployment', name: 'cni-gate' },
  patch: JSON.stringify(patch),
});
const pod = '/spec/template/spec';

const variants: Variant[] = [
  { name: 'default values', values: {}, kustomization: { overlay: 'permissive' } },
  { name: 'strict', values: { mode: 'strict' }, kustomization: { overlay: 'strict' } },
  {
    name: 'certificates from files',
    values: { mode: 'strict', certificates: 'files' },
    kustomization: { overlay: 'files' },
  },
  {
    name: 'cert-manager',
    values: { mode: 'strict', certificates: 'cert-manager' },
    kustomization: { overlay: 'cert-manager' },
  },
  {
    name: 'images and a configuration of your own',
    values: {
      mode: 'strict',
      image: { repository: 'mirror.example:5000/tools/cni-gate', tag: '0.2.0' },
      validatorImage: { repository: 'mirror.example:5000/tools/validator', tag: '0.2.1' },
      imagePullSecrets: [{ name: 'mirror' }],
      replicas: 3,
      extraArgs: ['--log-level=warn'],
      nodeSelector: { pool: 'system' },
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      configuration: { proof: { imagePullSecrets: ['mirror'] }, profiles },
    },
    kustomization: {
      overlay: 'strict',
      transformers: ['image'],
      fields: {
        images: [
          {
            name: 'ghcr.io/cni-gate/cni-gate',
            newName: 'mirror.example:5000/tools/cni-gate',
            newTag: '0.2.0',
          },
          {
            name: 'ghcr.io/cni-gate/cni-gate-validator',
            newName: 'mirror.example:5000/tools/validator',
            newTag: '0.2.1',
          },
        ],
        patches: [
          onDeployment([
            { op: 'replace', path: '/spec/replicas', value: 3 },
            { op: 'add', path: `${pod}/containers/0/args/-`, value: '--log-level=warn' },
            { op: 'add', path: `${pod}/nodeSelector/pool`, value: 'system' },
            { op: 'add', path: `${pod}/tolerations/-`, value: { key: 'dedicated', operator: 'Exists' } },
          ]),
          {
            target: { kind: 'ServiceAccount', name: 'cni-gate' },
            patch: JSON.stringify([{ op: 'add', path: '/imagePullSecrets', value: [{ name: 'mirror' }] }]),
          },
          imagesOfPolicy("['the first is replaced', 'example/validator:1']"),
        ],
      },
    },
  },
  {
    name: 'strict with policies',
    values: { mode: 'strict', policies: 'on' },
    kustomization: { overlay: 'strict-policies' },
  },
  {
    name: 'permissive with policies, and the image of a mirror',
    values: { policies: 'on', validatorImage: { repository: 'mirror.example:5000/validator', tag: '1' } },
    kustomization: {
      overlay: 'permissive-policies',
      transformers: ['image'],
      fields: {
        images: [
          {
            name: 'ghcr.io/cni-gate/cni-gate-validator',
            newName: 'mirror.example:5000/validator',
            newTag: '1',
          },
        ],
      },
    },
  },
  {
    name: 'no server, and nothing that belongs to it',
    values: {
      mode: 'strict',
      policies: 'only',
      certificates: 'cert-manager',
      hostNetwork: true,
      monitoring: { enabled: true },
      grafanaDashboard: { enabled: true },
      networkPolicy: { enabled: true },
    },
    kustomization: { overlay: 'strict', components: ['policies', 'proof-only'] },
  },
  {
    name: 'all options together',
    values: {
      mode: 'permissive',
      certificates: 'cert-manager',
      hostNetwork: true,
      monitoring: { enabled: true },
      grafanaDashboard: { enabled: true },
      networkPolicy: { enabled: true, from: [{ ipBlock: { cidr: '10.0.0.0/28' } }] },
      configuration: { proof: { allowOptOut: false } },
    },
    kustomization: {
      overlay: 'permissive',
      components: [
        ...['files', 'cert-manager', 'host-network', 'monitoring'],
        ...['grafana-dashboard', 'network-policy', 'no-opt-out'],
      ],
      fields: {
        patches: [
          {
            target: { kind: 'NetworkPolicy', name: 'cni-gate' },
            patch: JSON.stringify([
              { op: 'add', path: '/spec/ingress/0/from', value: [{ ipBlock: { cidr: '10.0.0.0/28' } }] },
            ]),
          },
        ],
      },
    },
  },
];

/** The objects by kind and name. The configuration is parsed, as its text may differ. Helm creates the namespace. */
function comparable(yaml: string): Record<string, KubernetesObject> {
  const objects = objectsOf(yaml).filter(({ kind }) => kind !== 'Namespace');
  for (const object of objects) {
    const data = object.data as Record<string, unknown> | undefined;
    if (typeof data?.['config.yaml'] === 'string') data['config.yaml'] = parse(data['config.yaml']);
  }
  const byId = Object.fromEntries(objects.map((object) => [idOf(object), object]));
  assert.equal(Object.keys(byId).length, objects.length);
  return byId;
}

suite('chart and kustomize render the same objects', () => {
  for (const { name, values, kustomization } of variants) {
    test(name, async () => {
      const { configuration = {} } = values;
      const [rendered, wanted] = await Promise.all([
        template(values),
        kustomize(await withConfiguration(kustomization, configuration)),
      ]);
      assert.deepEqual(comparable(rendered), comparable(wanted));
    });
  }
});

suite('whether the mutating policy is installed', () => {
  const served = ['--api-versions', 'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy'];
  const policy = 'MutatingAdmissionPolicy/pods.cni-gate.io';
  const webhookIn = (objects: Record<string, KubernetesObject>): unknown =>
    (objects['MutatingWebhookConfiguration/cni-gate'] as unknown as { webhooks: object[] }).webhooks[0];
  const own = { proof: { mode: 'enforce', image: 'mirror.example/validator:1' } };
  const given = policyOf(own);
  const cases: [name: string, values: object, more: string[], wanted: object | undefined][] = [
    ['the API server has none', { mode: 'strict' }, [], undefined],
    [
      'the API server has them',
      { mode: 'strict' },
      served,
      { apiVersion: 'admissionregistration.k8s.io/v1' },
    ],
    ['settings of the gate', { configuration: { gate: { mode: 'audit' } } }, served, { spec: {} }],
    ['a configuration of your own', { mode: 'strict', configuration: own }, served, undefined],
    [
      'with its policy',
      { configuration: own, policyObjects: policiesYaml(given) },
      served,
      policyObjects(given)[0],
    ],
    ['the values turn it off', { mode: 'strict', policies: 'off' }, served, undefined],
  ];
  for (const [name, values, more, wanted] of cases) {
    test(name, async () => {
      const objects = comparable(await template(values, more));
      if (wanted === undefined) assert.equal(objects[policy], undefined);
      else assert.partialDeepStrictEqual(objects[policy], wanted);
      const failurePolicy = wanted === undefined ? 'Fail' : 'Ignore';
      assert.partialDeepStrictEqual(webhookIn(objects), { failurePolicy });
    });
  }

  test('NOTES say which was chosen, and why', async () => {
    const notes = async (...args: string[]): Promise<string> =>
      (await helm(['install', 'cni-gate', chart, ...namespace, '--dry-run=client', ...args])).split(
        'NOTES:',
      )[1] ?? '';
    assert.match(await notes(), /policies: off, because the API server has no MutatingAdmissionPolicy/);
    assert.match(await notes('--set', 'policies=only'), /policies: only, as your values say/);
  });
});

test('the generated part is up to date', async () => {
  const folder = join(chart, 'templates/generated');
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const written = Object.fromEntries(readdirSync(folder).map((name) => [name, read(name)]));
  assert.deepEqual(written, Object.fromEntries(await templates()), 'run: npm run generate');
  assert.equal(readFileSync(join(chart, 'values.schema.json'), 'utf8'), valuesSchema());
});

test('the chart has the version of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const stated = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'));
  assert.deepEqual([stated.version, stated.appVersion], [version, version]);
});

test('helm lint finds no fault', async () => {
  await helm(['lint', '--strict', chart, ...namespace]);
});

test('the name of the release changes no object', async () => {
  const other = await helm(['template', 'networks', chart, ...namespace, '--skip-tests']);
  assert.deepEqual(comparable(other), comparable(await template({})));
});

test('the policy expects the image that proof.image names', async () => {
  const objects = comparable(
    await template({ configuration: { proof: { image: 'mirror.example/validator:1' } } }),
  );
  assert.partialDeepStrictEqual(objects['ValidatingAdmissionPolicy/pods.cni-gate.io'], {
    spec: { variables: [{ name: 'images', expression: "['mirror.example/validator:1']" }] },
  });
});

/** Values with a mutating policy that has these variables. */
function withPolicies(image: string, mode: string): string[] {
  const variables = Object.entries({ image, mode }).map(([name, value]) => ({
    name,
    expression: `"${value}"`,
  }));
  const text = JSON.stringify({ spec: { variables } });
  return ['--set', 'policies=on', '--set-json', `policyObjects=${JSON.stringify(text)}`];
}

suite('refused, with a message that says why', () => {
  const refusals: [name: string, args: string[], message: RegExp][] = [
    [
      'another namespace',
      ['--namespace', 'networks'],
      /can only be installed in the namespace cni-gate.*networks.*--namespace cni-gate/s,
    ],
    ['a value that does not exist', [...namespace, '--set', 'nameOverride=other'], /nameOverride/],
    ['a wrong mode', [...namespace, '--set', 'mode=lenient'], /mode.*strict.*permissive/s],
    [
      'a wrong configuration',
      [...namespace, '--set', 'configuration.proof.mod=warn'],
      /configuration\/proof|configuration\.proof/,
    ],
    // Helm drops values that are null, so it would render an empty image or mount a Secret that does not exist
    ['an image of null', [...namespace, '--set', 'image=null'], /missing property 'image'/],
    ['an image without a name', [...namespace, '--set', 'image.repository=null'], /'repository'/],
    ['an image with a blank', [...namespace, '--set', 'image.repository=a b'], /image\/repository/],
    ['no certificates', [...namespace, '--set', 'certificates=null'], /missing property 'certificates'/],
    ['no monitoring', [...namespace, '--set', 'monitoring=null'], /missing property 'monitoring'/],
    [
      'policies of another configuration',
      [...namespace, '--set', 'policies=on,configuration.proof.mode=warn'],
      /policyObjects.*cni-gate policies/,
    ],
    [
      'policies of another mode',
      [...namespace, ...withPolicies(validatorImage, 'enforce')],
      /policyObjects has the mode "enforce", but this release has "warn"\. Set it to .*cni-gate policies/,
    ],
    [
      'policies with another image',
      [...namespace, ...withPolicies('mirror.example/old:1', 'warn')],
      /policyObjects has the image "mirror\.example\/old:1", but this release has "ghcr\.io/,
    ],
    ['an old Kubernetes', [...namespace, '--kube-version', '1.29.0'], />=1\.30/],
  ];
  for (const [name, args, message] of refusals) {
    test(name, async () => {
      const error = await helm(['template', 'cni-gate', chart, ...args]).then(() => '', messageOf);
      assert.match(error, message);
    });
  }
});
