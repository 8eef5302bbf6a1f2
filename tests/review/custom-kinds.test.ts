import assert from 'node:assert/strict';
import { test } from 'node:test';
import jsonpatch, { type Operation } from 'fast-json-patch';
import { parse, stringify } from 'yaml';
import { namespaceOf, reviewText } from './support.ts';

const pods = { containers: [{ name: 'app', image: 'app:1' }] };
const template = { metadata: { labels: { app: 'a' } }, spec: pods };
const job = { spec: { template } };

/** Objects of kinds in the list, each with the pointers of its templates. */
const objects: [apiVersion: string, kind: string, spec: object, pointers: string[]][] = [
  ['argoproj.io/v1alpha1', 'Rollout', { template }, ['/spec/template']],
  [
    'argoproj.io/v1alpha1',
    'Experiment',
    {
      templates: [
        { name: 'a', template },
        { name: 'b', template },
      ],
    },
    ['/spec/templates/0/template', '/spec/templates/1/template'],
  ],
  [
    'argoproj.io/v1alpha1',
    'AnalysisTemplate',
    { metrics: [{ provider: { prometheus: {} } }, { provider: { job } }] },
    ['/spec/metrics/1/provider/job/spec/template'],
  ],
  [
    'serving.knative.dev/v1',
    'Service',
    { template: { spec: { containers: [{ image: 'app:1' }] } } },
    ['/spec/template'],
  ],
  ['serving.knative.dev/v1', 'Configuration', { template }, ['/spec/template']],
  ['serving.knative.dev/v1', 'Revision', pods, ['']],
  [
    'kubeflow.org/v1',
    'PyTorchJob',
    { pytorchReplicaSpecs: { Master: { template }, Worker: { replicas: 2, template } } },
    ['/spec/pytorchReplicaSpecs/Master/template', '/spec/pytorchReplicaSpecs/Worker/template'],
  ],
  [
    'kubeflow.org/v1',
    'TFJob',
    { tfReplicaSpecs: { PS: { template } } },
    ['/spec/tfReplicaSpecs/PS/template'],
  ],
  [
    'kubeflow.org/v2beta1',
    'MPIJob',
    { mpiReplicaSpecs: { Launcher: { template } } },
    ['/spec/mpiReplicaSpecs/Launcher/template'],
  ],
  ['apps.openshift.io/v1', 'DeploymentConfig', { template }, ['/spec/template']],
  ['apps.kruise.io/v1alpha1', 'CloneSet', { template }, ['/spec/template']],
  ['apps.kruise.io/v1beta1', 'StatefulSet', { template }, ['/spec/template']],
  ['apps.kruise.io/v1alpha1', 'DaemonSet', { template }, ['/spec/template']],
  ['apps.kruise.io/v1alpha1', 'BroadcastJob', { template }, ['/spec/template']],
  [
    'apps.kruise.io/v1alpha1',
    'AdvancedCronJob',
    { template: { broadcastJobTemplate: job } },
    ['/spec/template/broadcastJobTemplate/spec/template'],
  ],
  [
    'apps.kruise.io/v1alpha1',
    'UnitedDeployment',
    { template: { cloneSetTemplate: job } },
    ['/spec/template/cloneSetTemplate/spec/template'],
  ],
  [
    'jobset.x-k8s.io/v1alpha2',
    'JobSet',
    { replicatedJobs: [{ name: 'a', template: job }] },
    ['/spec/replicatedJobs/0/template/spec/template'],
  ],
  [
    'ray.io/v1',
    'RayCluster',
    { headGroupSpec: { template }, workerGroupSpecs: [{ template }, { template }] },
    [
      '/spec/headGroupSpec/template',
      '/spec/workerGroupSpecs/0/template',
      '/spec/workerGroupSpecs/1/template',
    ],
  ],
  ['batch.volcano.sh/v1alpha1', 'Job', { tasks: [{ template }] }, ['/spec/tasks/0/template']],
  ['keda.sh/v1alpha1', 'ScaledJob', { jobTargetRef: { template } }, ['/spec/jobTargetRef/template']],
];

for (const [apiVersion, kind, spec, pointers] of objects) {
  test(`${apiVersion} ${kind} is reviewed, and patched where its templates are`, async (t) => {
    const object = { apiVersion, kind, metadata: { name: 'a', namespace: 'shop' }, spec };
    const reviewed = await reviewText(t, stringify(object), { profile: 'cilium' });
    assert.deepEqual(
      reviewed.reported,
      pointers.map(() => `injected promised ${kind} shop/a`),
    );
    const { workloads, summary } = reviewed.json();
    assert.equal(summary.unknownKinds, 0);
    let patched: object = structuredClone(object);
    for (const [at, workload] of workloads.entries()) {
      assert.ok(workload.patch.every(({ path }) => path.startsWith(`${pointers[at]}/`)));
      patched = jsonpatch.applyPatch(patched, workload.patch as Operation[], true).newDocument;
    }
    for (const pointer of pointers) {
      const first = jsonpatch.getValueByPointer(patched, `${pointer}/spec/initContainers/0/name`);
      assert.equal(first, 'cni-gate-validator');
    }
    // the operator's own names for containers are made up for the review alone
    assert.deepEqual(parse(reviewed.yaml()), patched);
  });
}

test('several templates: each is named by its path', async (t) => {
  const object = {
    apiVersion: 'ray.io/v1',
    kind: 'RayCluster',
    metadata: { name: 'a', namespace: 'shop' },
    spec: { headGroupSpec: { template }, workerGroupSpecs: [{ template }] },
  };
  const reviewed = await reviewText(t, stringify(object), { profile: 'cilium' });
  assert.deepEqual(
    reviewed.json().workloads.map(({ part }) => part),
    ['headGroupSpec', 'workerGroupSpecs[0]'],
  );
  assert.match(reviewed.text(), /^injected RayCluster shop\/a workerGroupSpecs\[0\] \(/m);
});

test('templates that share an anchor are each patched', async (t) => {
  const text = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, namespace: shop}
spec:
  pytorchReplicaSpecs:
    Master: &same
      template: {spec: {containers: [{name: app, image: "app:1"}]}} # both
    Worker: *same
`;
  const reviewed = await reviewText(t, text, { profile: 'cilium' });
  const { Master, Worker } = parse(reviewed.yaml()).spec.pytorchReplicaSpecs;
  assert.equal(Master.template.spec.initContainers[0].name, 'cni-gate-validator');
  assert.deepEqual(Worker, Master);
});

test('a custom resource with spec.template.spec.containers is reviewed as an unknown kind', async (t) => {
  const widget = {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'a', namespace: 'shop' },
    spec: { template },
  };
  const reviewed = await reviewText(t, stringify(widget), { profile: 'cilium' });
  assert.deepEqual(reviewed.reported, ['injected promised Widget shop/a']);
  assert.equal(reviewed.json().workloads[0]?.unknownKind, true);
  assert.equal(reviewed.summary.unknownKinds, 1);
  assert.match(reviewed.text(), /^ {2}note: Widget is not a known kind: .* spec\.template$/m);
  assert.match(reviewed.text(), /, 1 workload of an unknown kind$/m);
  assert.match(reviewed.table(), /^injected +Widget\/a \(unknown kind\) +shop +address, gateway +\S+:1$/m);
  assert.match(reviewed.table(), /, 1 workload of an unknown kind$/m);
  assert.match(reviewed.junit(), /not a known kind/);
  assert.equal(parse(reviewed.yaml()).spec.template.spec.initContainers[0].name, 'cni-gate-validator');
});

test('an object without a pod template counts as another object', async (t) => {
  const others = [
    { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', spec: { template: { spec: { domain: {} } } } },
    { apiVersion: 'apps/v1', kind: 'ControllerRevision', data: { spec: { template } } },
    { apiVersion: 'argoproj.io/v1alpha1', kind: 'Workflow', spec: { templates: [{ container: {} }] } },
    {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'ClusterAnalysisTemplate',
      spec: { metrics: [{ provider: { job } }] },
    },
    { apiVersion: 'argoproj.io/v1alpha1', kind: 'AnalysisTemplate', spec: { metrics: [{ provider: {} }] } },
    {
      apiVersion: 'types.kubefed.io/v1beta1',
      kind: 'FederatedDeployment',
      spec: { template: { spec: { template } } },
    },
    { apiVersion: 'kubeflow.org/v1', kind: 'TFJob', spec: {} },
    { apiVersion: 'kubeflow.org/v1', kind: 'TFJob', spec: { tfReplicaSpecs: { PS: null } } },
    { apiVersion: 'policy/v1', kind: 'Rollout', spec: { template } },
    { apiVersion: 'example.com/v1', kind: 'Widget', spec: { template: 'text' } },
  ];
  const { reported, summary, faults } = await reviewText(
    t,
    others.map((one) => stringify(one)).join('---\n'),
    {
      profile: 'cilium',
    },
  );
  assert.deepEqual([reported, faults], [[], []]);
  assert.equal(
    Object.values(summary.otherObjects).reduce((a, b) => a + b),
    others.length,
  );
});

test('an invalid template is an error with its position', async (t) => {
  const text =
    'apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: a}\nspec:\n  template: web\n';
  const { faults } = await reviewText(t, text, { profile: 'cilium' });
  assert.deepEqual(faults, ['1: Rollout default/a: expected a pod template in spec.template, got a string']);
  const spec = text.replace('web', '{spec: {containers: [{name: 1}]}}');
  assert.match(
    (await reviewText(t, spec, { profile: 'cilium' })).faults[0] ?? '',
    /^5: Rollout default\/a: spec\.template\.spec\.containers\[0\]\.name must be string/,
  );
});

test('more than 1,000 templates in an object are an error', async (t) => {
  const replicas = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`r${at}`, { template }]));
  const object = {
    apiVersion: 'kubeflow.org/v1',
    kind: 'TFJob',
    metadata: { name: 'a' },
    spec: { tfReplicaSpecs: replicas },
  };
  const { faults, reported } = await reviewText(t, JSON.stringify(object), { profile: 'cilium' });
  assert.deepEqual(
    [faults, reported],
    [['1: spec.tfReplicaSpecs.*.template matches more than 1000 values'], []],
  );
});

const rollout = stringify({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Rollout',
  metadata: { name: 'roll', namespace: 'shop' },
  spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
});
const deployment = (namespace: string): string =>
  stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: { template },
  });

test('a Rollout with workloadRef uses its Deployment, and is a finding without it', async (t) => {
  const there = await reviewText(t, [rollout, deployment('shop')].join('---\n'), { profile: 'cilium' });
  assert.deepEqual(there.reported, ['injected promised Deployment shop/web']);
  assert.deepEqual(there.findings, []);
  for (const others of [[deployment('tools')], []]) {
    const text = [rollout, ...others].join('---\n');
    const { findings, report } = await reviewText(t, text, { profile: 'cilium' });
    assert.deepEqual(findings, ['TEMPLATE_NOT_GIVEN Rollout shop/roll']);
    assert.match(
      report.findings[0]?.message ?? '',
      /^uses the pod template of Deployment web, which is not in the input/,
    );
  }
});

test('a missing Deployment is no finding in a namespace that did not opt in', async (t) => {
  const bare = stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  assert.deepEqual((await reviewText(t, [rollout, bare].join('---\n'))).findings, []);
  const optedIn = [rollout, namespaceOf('shop', 'cilium')].join('---\n');
  assert.deepEqual((await reviewText(t, optedIn)).findings, ['TEMPLATE_NOT_GIVEN Rollout shop/roll']);
});

test('review.kinds adds kinds, and replaces the built-in entries of a kind', async (t) => {
  const config = stringify({
    apiVersion: 'cni-gate.io/v1alpha1',
    kind: 'Configuration',
    review: {
      kinds: [
        { apiVersion: 'example.com/v1', kind: 'Farm', path: 'spec.barns.*.stalls.*.pod' },
        { apiVersion: 'ray.io/*', kind: 'RayCluster', path: 'spec.headGroupSpec.template' },
      ],
    },
  });
  const farm = { metadata: { name: 'a' }, spec: { barns: { red: { stalls: [{ pod: template }] } } } };
  const text = [
    { apiVersion: 'example.com/v1', kind: 'Farm', ...farm },
    { apiVersion: 'example.com/v2', kind: 'Farm', ...farm },
    {
      apiVersion: 'ray.io/v1',
      kind: 'RayCluster',
      metadata: { name: 'b' },
      spec: { headGroupSpec: { template }, workerGroupSpecs: [{ template }] },
    },
    { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', metadata: { name: 'c' }, spec: { template } },
  ]
    .map((one) => stringify(one))
    .join('---\n');
  const { json, reported, summary } = await reviewText(t, text, { profile: 'cilium', config });
  assert.deepEqual(
    reported,
    ['Farm default/a', 'RayCluster default/b', 'Rollout default/c'].map(
      (name) => `injected promised ${name}`,
    ),
  );
  assert.deepEqual(
    json().workloads.map(({ part }) => part),
    ['barns.red.stalls[0].pod', undefined, undefined],
  );
  assert.deepEqual(summary.otherObjects, { Farm: 1 });
});

test("pods of a network's OpenKruise DaemonSet are exempt, as on the server", async (t) => {
  const object = {
    apiVersion: 'apps.kruise.io/v1alpha1',
    kind: 'DaemonSet',
    metadata: { name: 'linkerd-cni', namespace: 'linkerd-cni' },
    spec: { template },
  };
  const { reported } = await reviewText(t, stringify(object), { profile: 'cilium' });
  assert.deepEqual(reported, ['skipped network-daemonset DaemonSet linkerd-cni/linkerd-cni']);
});
