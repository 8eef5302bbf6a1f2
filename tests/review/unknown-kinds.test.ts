import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { cniGate } from '../support/command.ts';
import { folderWith, namespaceOf, pod, reviewText } from './support.ts';

const containers = [{ name: 'app', image: 'app:1' }];
const template = { metadata: { labels: { app: 'a' } }, spec: { containers } };

const manifest = (apiVersion: string, kind: string, spec: object, namespace = 'shop'): string =>
  JSON.stringify({ apiVersion, kind, metadata: { name: 'a', namespace }, spec });

/** Beside a pod that is checked. */
const beside = (text: string): string => [namespaceOf('shop', 'cilium'), pod('b'), text].join('\n---\n');

suite('a pod in an object of an unknown kind is a finding', () => {
  const wrong: [text: string, where: string, advice: string][] = [
    [manifest('app/v1', 'Deployment', { template }), 'spec.template', 'did you mean apiVersion apps/v1?'],
    [manifest('v1', 'Deployment', { template }), 'spec.template', 'did you mean apiVersion apps/v1?'],
    [manifest('batch/v1', 'StatefulSet', { template }), 'spec.template', 'did you mean apiVersion apps/v1?'],
    [manifest('apps/v2', 'Deployment', { template }), 'spec.template', 'did you mean apiVersion apps/v1?'],
    [
      manifest('extensions/v1beta1', 'Deployment', { template }),
      'spec.template',
      'did you mean apiVersion apps/v1?',
    ],
    [
      manifest('batch/v2', 'CronJob', { jobTemplate: { spec: { template } } }),
      'spec.jobTemplate.spec.template',
      'did you mean apiVersion batch/v1?',
    ],
    [manifest('apps/v1', 'Pod', { containers }), 'spec', 'did you mean apiVersion v1?'],
    [manifest('apps/v1', 'Deploymnet', { template }), 'spec.template', 'did you mean kind Deployment?'],
    [manifest('apps/v1', 'deployment', { template }), 'spec.template', 'did you mean kind Deployment?'],
    [manifest('v1', 'pod', { containers }), 'spec', 'did you mean kind Pod?'],
    [
      manifest('batch/v1', 'CronJb', { jobTemplate: { spec: { template } } }),
      'spec.jobTemplate.spec.template',
      'did you mean kind CronJob?',
    ],
    [
      manifest('batch.k8s.io/v1', 'CronJob', { jobTemplate: { spec: { template } } }),
      'spec.jobTemplate.spec.template',
      'did you mean apiVersion batch/v1?',
    ],
    [
      manifest('kubeflow.org/v1', 'PytorchJobs', { pytorchReplicaSpecs: { Master: { template } } }),
      'spec.pytorchReplicaSpecs.Master.template',
      'did you mean kind PyTorchJob?',
    ],
    [
      manifest('kubeflow.com/v1', 'PyTorchJob', { pytorchReplicaSpecs: { Master: { template } } }),
      'spec.pytorchReplicaSpecs.Master.template',
      'did you mean apiVersion kubeflow.org/*?',
    ],
    [
      manifest('elasticsearch.k8s.elastic.co/v1', 'Elasticsearch', {
        nodeSets: [{ podTemplate: { spec: { containers: [{ name: 'elasticsearch' }] } } }],
      }),
      'spec.nodeSets.*.podTemplate',
      'add the kind to review.kinds of the configuration, with path spec.nodeSets.*.podTemplate (docs/reference/configuration.md#review)',
    ],
    [
      manifest('argoproj.io/v1alpha1', 'Workflow', { templates: [{ name: 'a', container: containers[0] }] }),
      'spec.templates.*',
      'they are in no pod template, which is all that review finds; to accept that, add the kind to review.kinds of the configuration with path none (docs/reference/configuration.md#review)',
    ],
    [
      manifest('argoproj.io/v1alpha1', 'CronWorkflow', {
        workflowSpec: { templates: [{ name: 'a', script: { image: 'app:1', source: 'x' } }] },
      }),
      'spec.workflowSpec.templates.*',
      'they are in no pod template, which is all that review finds; to accept that, add the kind to review.kinds of the configuration with path none (docs/reference/configuration.md#review)',
    ],
  ];
  for (const [text, where, advice] of wrong) {
    const { apiVersion, kind } = JSON.parse(text);
    test(`${apiVersion} ${kind}`, async (t) => {
      const { report } = await reviewText(t, beside(text));
      assert.deepEqual(
        report.findings.map(({ code, subject, message }) => [code, subject, message]),
        [
          [
            'CNI_GATE_KIND_UNKNOWN',
            `${kind} shop/a`,
            `has containers in ${where}, and kind ${kind} of ${apiVersion} is unknown, so they are not reviewed: ${advice}`,
          ],
        ],
      );
    });
  }

  test('--strict fails, at the line of the pod', (t) => {
    const text =
      'apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: a, namespace: shop}\nspec:\n  template:\n    spec:\n      containers: [{name: app, image: "app:1"}]\n';
    const folder = folderWith(t, {
      'a.yaml': [namespaceOf('shop', 'cilium'), pod('b')].join('---\n'),
      'b.yaml': text,
    });
    const { status, stdout } = cniGate(['review', '-f', folder, '--strict', '-o', 'json']);
    const [{ code, file, line }] = JSON.parse(stdout).findings;
    assert.deepEqual([status, code, file.slice(-6), line], [1, 'CNI_GATE_KIND_UNKNOWN', 'b.yaml', 5]);
  });

  test('its namespace is not given: a finding, as it may have opted in', async (t) => {
    const { findings } = await reviewText(t, manifest('apps/v1', 'Deploymnet', { template }));
    assert.deepEqual(findings, ['KIND_UNKNOWN Deploymnet shop/a']);
  });
});

suite('no finding', () => {
  const quoted = { rules: [{ validate: { pattern: { spec: { template } } } }] };
  const right: [what: string, text: string, config?: string][] = [
    ['a policy that quotes a pod', manifest('kyverno.io/v1', 'ClusterPolicy', quoted)],
    [
      'a release with values',
      manifest('helm.toolkit.fluxcd.io/v2', 'HelmRelease', { values: { app: { spec: { containers } } } }),
    ],
    [
      'a workload in a namespace that did not opt in',
      manifest('apps/v1', 'Deploymnet', { template }, 'bare'),
    ],
    ['a workload in kube-system', manifest('apps/v1', 'Deploymnet', { template }, 'kube-system')],
    [
      'a custom resource without containers',
      manifest('cert-manager.io/v1', 'ClusterIssuer', {
        solvers: [{ podTemplate: { spec: { tolerations: [] } } }],
      }),
    ],
    [
      'a VirtualMachine',
      manifest('kubevirt.io/v1', 'VirtualMachine', {
        template: { spec: { domain: {}, volumes: [{ name: 'a' }] } },
      }),
    ],
    [
      'more containers of an operator',
      manifest('monitoring.coreos.com/v1', 'Prometheus', { containers: [{ name: 'prometheus' }] }),
    ],
    [
      'sidecars that are injected elsewhere',
      manifest('apps.kruise.io/v1alpha1', 'SidecarSet', { containers, selector: {} }),
    ],
    [
      'a CustomResourceDefinition',
      manifest('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
        versions: [
          {
            schema: {
              openAPIV3Schema: { properties: { spec: { properties: { containers: { type: 'array' } } } } },
            },
          },
        ],
      }),
    ],
    [
      'a revision that the cluster keeps',
      JSON.stringify({
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        metadata: { name: 'a', namespace: 'shop' },
        data: { spec: { template } },
      }),
    ],
    [
      'an analysis without a Job',
      manifest('argoproj.io/v1alpha1', 'AnalysisTemplate', { metrics: [{ provider: { web: {} } }] }),
    ],
    [
      'a kind with path none',
      manifest('argoproj.io/v1alpha1', 'Workflow', { templates: [{ name: 'a', container: containers[0] }] }),
      'review: {kinds: [{apiVersion: argoproj.io/*, kind: Workflow, path: none}]}\n',
    ],
  ];
  for (const [what, text, own] of right) {
    test(what, async (t) => {
      const bare = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: bare}\n';
      const config = own && `apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\n${own}`;
      const { findings, faults } = await reviewText(
        t,
        `${bare}---\n${beside(text)}`,
        config === undefined ? {} : { config },
      );
      assert.deepEqual([findings, faults], [[], []]);
    });
  }
});
