import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { exitCodeOf } from '../../webhook/review/summary.ts';
import { type Flags, namespaceOf, type Reviewed, reviewText } from './support.ts';

const policy = (...rules: object[]): object => ({ podFailurePolicy: { rules } });
const ignore = (onExitCodes: object): object => ({ action: 'Ignore', onExitCodes });
const documented = ignore({ operator: 'In', values: [95] });

/** A Job or CronJob. */
function job(spec: object, restartPolicy = 'Never', kind: 'Job' | 'CronJob' = 'Job', labels = {}): string {
  const containers = [{ name: 'work', image: 'work:1' }];
  const ofJob = { ...spec, template: { metadata: { labels }, spec: { restartPolicy, containers } } };
  return JSON.stringify({
    apiVersion: 'batch/v1',
    kind,
    metadata: { name: 'work', namespace: 'shop' },
    spec: kind === 'Job' ? ofJob : { schedule: '@daily', jobTemplate: { spec: ofJob } },
  });
}

const reviewJob = (t: TestContext, text: string, profile = 'cilium', flags: Flags = {}): Promise<Reviewed> =>
  reviewText(t, `${namespaceOf('shop', profile)}\n---\n${text}`, flags);

const code = 'CNI_GATE_JOB_COUNTS_PROOF';

suite('a Job that counts proofs that fail is a finding', () => {
  const cases: [what: string, text: string, message: RegExp][] = [
    [
      'Never without a policy',
      job({}),
      /Never and no podFailurePolicy .* uses up one of its backoffLimit, 6: /,
    ],
    ['Never and backoffLimit 0', job({ backoffLimit: 0 }), /so it fails with the first proof that fails: /],
    ['a CronJob', job({ backoffLimit: 2 }, 'Never', 'CronJob'), /one of its backoffLimit, 2: /],
    [
      'a policy for another code',
      job(policy(ignore({ operator: 'In', values: [3] }))),
      /no podFailurePolicy/,
    ],
    [
      'a rule that fails the Job before the one that ignores the code',
      job(policy({ action: 'FailJob', onExitCodes: { operator: 'NotIn', values: [3] } }, documented)),
      /no podFailurePolicy/,
    ],
    [
      'a rule for one container of the Job',
      job(policy(ignore({ containerName: 'work', operator: 'In', values: [95] }))),
      /no podFailurePolicy/,
    ],
    ['OnFailure and backoffLimit 0', job({ backoffLimit: 0 }, 'OnFailure'), /set backoffLimit to 1 or more/],
    ['a policy of another type', job({ podFailurePolicy: { rules: 'none' } }), /no podFailurePolicy/],
  ];
  for (const [what, text, message] of cases) {
    test(what, async (t) => {
      const { findings, report, summary } = await reviewJob(t, text);
      const kind = text.includes('"CronJob"') ? 'CronJob' : 'Job';
      assert.deepEqual(findings, [`JOB_COUNTS_PROOF ${kind} shop/work`]);
      assert.match(report.findings[0]?.message ?? '', message);
      assert.match(report.findings[0]?.message ?? '', /\(docs\/guides\/repair\.md#jobs\)$/);
      assert.deepEqual([exitCodeOf(summary, false), exitCodeOf(summary, true)], [0, 1]);
    });
  }

  test('and its lines, added to the Job as they are, end it', async (t) => {
    const { report } = await reviewJob(t, job({}));
    const lines = /`(podFailurePolicy: .*)`/.exec(report.findings[0]?.message ?? '')?.[1] ?? '';
    const yaml = `apiVersion: batch/v1
kind: Job
metadata: {name: work, namespace: shop}
spec:
  ${lines}
  template: {spec: {restartPolicy: Never, containers: [{name: work, image: "work:1"}]}}
`;
    assert.match(lines, /values: \[95\]/);
    assert.deepEqual((await reviewJob(t, yaml)).findings, []);
  });
});

suite('a Job in another kind', () => {
  const metadata = { name: 'work', namespace: 'shop' };
  const specOf = (own: object): object => ({
    ...own,
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] } },
  });
  const kinds: [apiVersion: string, kind: string, path: string, spec: (job: object) => object][] = [
    [
      'jobset.x-k8s.io/v1alpha2',
      'JobSet',
      'spec.replicatedJobs[0].template.spec',
      (spec) => ({ replicatedJobs: [{ name: 'a', template: { spec } }] }),
    ],
    ['keda.sh/v1alpha1', 'ScaledJob', 'spec.jobTargetRef', (spec) => ({ jobTargetRef: spec })],
    [
      'argoproj.io/v1alpha1',
      'AnalysisTemplate',
      'spec.metrics[0].provider.job.spec',
      (spec) => ({ metrics: [{ name: 'a', provider: { job: { spec } } }] }),
    ],
    [
      'apps.kruise.io/v1alpha1',
      'AdvancedCronJob',
      'spec.template.jobTemplate.spec',
      (spec) => ({ schedule: '@daily', template: { jobTemplate: { spec } } }),
    ],
    [
      'trainer.kubeflow.org/v1alpha1',
      'TrainingRuntime',
      'spec.template.spec.replicatedJobs[0].template.spec',
      (spec) => ({ template: { spec: { replicatedJobs: [{ name: 'a', template: { spec } }] } } }),
    ],
  ];
  for (const [apiVersion, kind, path, of] of kinds) {
    const manifest = (own: object): string =>
      JSON.stringify({ apiVersion, kind, metadata, spec: of(specOf(own)) });
    test(`${kind}: a finding with the path of the Job's spec, and none with the documented rule`, async (t) => {
      const { report } = await reviewJob(t, manifest({ backoffLimit: 3 }));
      assert.deepEqual(
        report.findings.map((finding) => finding.code),
        [code],
      );
      const [{ message = '' } = {}] = report.findings;
      assert.ok(
        message.includes(`uses up one of its backoffLimit, 3: add to ${path} \`podFailurePolicy: `),
        message,
      );
      assert.deepEqual((await reviewJob(t, manifest(policy(documented)))).findings, []);
    });
  }

  const volcano = (task: object, job: object = {}, restartPolicy = 'Never'): string =>
    JSON.stringify({
      apiVersion: 'batch.volcano.sh/v1alpha1',
      kind: 'Job',
      metadata,
      spec: {
        ...job,
        tasks: [
          {
            name: 'a',
            ...task,
            template: { spec: { restartPolicy, containers: [{ name: 'work', image: 'work:1' }] } },
          },
        ],
      },
    });
  const restart = { policies: [{ event: 'PodFailed', action: 'RestartTask' }] };

  test('Volcano: a finding with a policy for the task, and none with a policy that restarts a failed pod', async (t) => {
    const { report } = await reviewJob(t, volcano({}));
    assert.deepEqual(
      report.findings.map((finding) => finding.code),
      [code],
    );
    assert.match(
      report.findings[0]?.message ?? '',
      /: add to spec\.tasks\[0\] `policies: \[\{event: PodFailed, action: RestartTask\}\]` /,
    );
    const right = [
      volcano(restart),
      volcano({}, restart),
      volcano({}, { policies: [{ events: ['PodEvicted', 'PodFailed'], action: 'RestartJob' }] }),
      volcano({}, { policies: [{ event: '*', action: 'RestartJob' }] }),
      volcano({}, {}, 'OnFailure'),
    ];
    for (const text of right) assert.deepEqual((await reviewJob(t, text)).findings, []);
    const wrong = [
      volcano({ policies: [{ event: 'TaskCompleted', action: 'CompleteJob' }] }, restart),
      volcano({}, { policies: [{ event: 'PodFailed', action: 'AbortJob' }] }),
      volcano({}, { policies: [{ exitCode: 95, action: 'RestartJob' }] }),
    ];
    for (const text of wrong) {
      assert.deepEqual((await reviewJob(t, text)).findings, ['JOB_COUNTS_PROOF Job shop/work tasks[0]']);
    }
  });
});

suite('a Job is no finding', () => {
  const cases: [what: string, text: string, profile?: string, flags?: Flags][] = [
    ['with the documented rule', job(policy(documented))],
    ['with the rule, in a CronJob', job(policy(documented), 'Never', 'CronJob')],
    ['with the rule and backoffLimit 0', job({ backoffLimit: 0, ...policy(documented) })],
    ['with a rule for several codes', job(policy(ignore({ operator: 'In', values: [3, 95] })))],
    ['with a rule for all codes but another', job(policy(ignore({ operator: 'NotIn', values: [3] })))],
    [
      'if an earlier rule is about something else',
      job(policy({ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }, documented)),
    ],
    ['with OnFailure', job({}, 'OnFailure')],
    ['with OnFailure, in a CronJob', job({ backoffLimit: 2 }, 'OnFailure', 'CronJob')],
    ['if its pods opt out', job({}, 'Never', 'Job', { 'cni-gate.io/profile': 'none' })],
    [
      'if proofs only warn',
      job({}),
      'cilium',
      { config: 'apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\nproof: {mode: warn}\n' },
    ],
    ['of another group', job({}).replace('batch/v1', 'jobs.example.com/v1')],
  ];
  for (const [what, text, profile, flags] of cases) {
    test(what, async (t) => {
      const { report } = await reviewJob(t, text, profile, flags);
      assert.deepEqual(
        report.findings.filter((finding) => finding.code === code),
        [],
      );
    });
  }

  test('in a namespace that did not opt in', async (t) => {
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n';
    const { findings } = await reviewText(t, `${namespace}---\n${job({})}`);
    assert.deepEqual(findings, ['NOTHING_CHECKED the input']);
  });
});
