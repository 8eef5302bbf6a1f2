import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PodEvidence, Verdict } from '../../../webhook/core/facts/pod-evidence.ts';
import type { PodFacts, WithoutProof } from '../../../webhook/report/observe/pods.ts';
import type { Status } from '../../../webhook/report/show/status.ts';
import { statusOf } from '../../../webhook/report/show/status.ts';
import { ageText } from '../../../webhook/report/show/table.ts';
import { now } from '../core/networks/objects.ts';
import {
  absent,
  configured,
  evidenceOf,
  holdOf,
  type MoreStatusFacts,
  profiles,
  statusFacts,
  wholeInstallation,
} from './objects.ts';
import { eventOf } from './troubled.ts';

const tell = (pods: PodFacts[], more: MoreStatusFacts = {}): Status =>
  statusOf(statusFacts({ ...more, pods }), { now, all: false });

const pod = (name: string, proof: PodFacts['proof'], evidence: Partial<PodEvidence>): PodFacts => ({
  namespace: 'shop',
  name,
  node: 'n1',
  proof,
  evidence: evidenceOf(name, evidence),
});

suite('a held pod that no node is nominated for', () => {
  const held = holdOf('web', { refused: 'n1', since: now - 60_000, nominated: '', why: '' });
  const pods: PodFacts[] = [{ namespace: 'shop', name: 'web', proof: 'waiting', held }];
  const shown = (more: MoreStatusFacts): string | null | undefined =>
    tell(pods, more).heldPods[0]?.notNominated;

  test("has the leader's last event of this hold", () => {
    const said = (at: number) => ({
      events: new Map([['web-uid', eventOf('NotNominated', 'no node is ready', at)]]),
    });
    assert.equal(shown({}), null);
    assert.equal(shown(said(now - 60_001)), null);
    assert.equal(shown(said(now - 1)), 'no node is ready');
  });

  test('says so where steering is not in force', () => {
    const configuration = configured({ profiles, steer: { mode: 'off' } });
    assert.equal(shown({ configuration }), 'steering is not in force: pods that are refused wait');
  });
});

suite('failed proofs', () => {
  for (const verdict of ['failed', 'crashed'] satisfies Verdict[])
    test(`${verdict}: not well, and the first line says so`, () => {
      const { headline, failedPods } = tell([pod('web', 'failed', { verdict, at: now - 5000 })]);
      assert.equal(headline, 'Not all is well: failed proofs: 1.');
      const [failed] = failedPods;
      assert.notEqual(failed?.why, '');
      assert.deepEqual([failed?.verdict, failed?.since], [verdict, '2026-11-21T11:59:55Z']);
    });

  test('the age is that of the sandbox, where the kubelet says it', () => {
    const failed = pod('web', 'failed', { verdict: 'failed', at: now - 5000 });
    const [shown] = tell([{ ...failed, failingSince: now - 60_000 }]).failedPods;
    assert.equal(shown?.since, '2026-11-21T11:59:00Z');
  });

  test('without an event, the reason is that repair is not in force, or that it has just begun', () => {
    const repairOf = (settings: object, more: MoreStatusFacts = {}, at = now - 5000): unknown =>
      tell([pod('web', 'failed', { verdict: 'failed', at })], {
        configuration: configured({ profiles, ...settings }),
        ...more,
      }).failedPods[0]?.repair;
    const recreating = { repair: { mode: 'recreate' } };
    const installation = { ...wholeInstallation, lease: absent };
    assert.match(String(repairOf(recreating)), /^not decided yet: an event /);
    assert.equal(repairOf(recreating, {}, now - 300_000), null);
    assert.equal(
      repairOf({ repair: { mode: 'off' } }),
      'not in force: pods whose proof failed stay as they are',
    );
    assert.match(
      String(repairOf(recreating, { installation })),
      /^not in force: Lease .* no replica holds it/,
    );
  });

  test('what repair said last is shown in the mode in which it said so, and that it has stopped', () => {
    const shown = (mode: string, reason: string, stopped = false): Status =>
      tell([pod('web', 'failed', { verdict: 'failed' })], {
        configuration: configured({ profiles, repair: { mode } }),
        events: new Map([['web-uid', { ...eventOf(reason, 'said'), stopped }]]),
      });
    const repairOf = ({ failedPods }: Status): string | null | undefined => failedPods[0]?.repair;
    assert.equal(repairOf(shown('audit', 'WouldRecreate')), 'said');
    assert.equal(repairOf(shown('recreate', 'NotRecreated')), 'said');
    assert.match(repairOf(shown('recreate', 'WouldRecreate')) ?? '', /^not decided yet/);
    const { inForce, why } = shown('recreate', 'NotRecreated', true).features[3] ?? {};
    assert.deepEqual([inForce, why], [false, 'it has stopped: most recreated pods failed again']);
  });
});

suite('pods that wait on a node', () => {
  const waiting = (more: Partial<PodEvidence> = {}): PodFacts =>
    pod('web', 'waiting', { verdict: 'waiting', at: now - 90_000, ...more });

  test("for a minute: not well, and the kubelet's last event says why", () => {
    const { headline, waitingPods } = tell([waiting()], {
      events: new Map([['web-uid', eventOf('FailedMount', 'MountVolume.SetUp failed')]]),
    });
    assert.equal(headline, 'Not all is well: pods that wait: 1.');
    assert.equal(waitingPods[0]?.why, 'MountVolume.SetUp failed');
    assert.equal(tell([waiting()]).waitingPods[0]?.why, 'it waits for a sandbox');
  });

  test('for less, ended or being deleted: well', () => {
    for (const more of [{ at: now - 50_000 }, { ended: true }, { leaving: true }])
      assert.equal(tell([waiting(more)]).result, 'well');
  });

  test('the first line counts them, also while that is well', () => {
    const at = now - 50_000;
    const young = ['a', 'b'].map((name) => pod(name, 'waiting', { verdict: 'waiting', at }));
    const { result, headline } = tell([...young, pod('web', 'passed', {})]);
    assert.deepEqual([result, headline], ['well', 'All is well. Of note: pods that wait: 2.']);
  });
});

test('an address on two live pods is not well; one on a pod that ended or is being deleted is', () => {
  const two = (more: Partial<PodEvidence>): PodFacts[] => [
    pod('a', 'passed', { addresses: ['10.0.0.1'] }),
    pod('b', 'passed', { addresses: ['10.0.0.1'], ...more }),
  ];
  const { headline, duplicateAddresses } = tell(two({ createdAt: now, node: 'n2' }));
  assert.equal(headline, 'Not all is well: duplicate addresses: 1.');
  const expected = { network: null, address: '10.0.0.1', pods: ['shop/a', 'shop/b'], nodes: ['n1', 'n2'] };
  assert.deepEqual(duplicateAddresses, [expected]);
  for (const more of [{ ended: true }, { leaving: true }]) assert.equal(tell(two(more)).result, 'well');
});

test('ages read as those of kubectl', () => {
  const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
  const ages: [number, string][] = [
    [-second, '0s'],
    [119 * second, '119s'],
    [10 * minute, '10m'],
    [5 * hour + 10 * minute, '5h'],
    [47 * hour, '47h'],
    [3 * day + 2 * hour, '3d'],
    [800 * day, '2y'],
  ];
  for (const [age, text] of ages) assert.equal(ageText(age), text);
});

test('a pod that was never reviewed: it may be older than the label, and the command that recreates it', () => {
  const old: PodFacts = { namespace: 'shop', name: 'old', node: 'n1', proof: 'withoutProof' };
  const whyOf = (withoutProof: WithoutProof): string | undefined =>
    tell([{ ...old, withoutProof }]).podsWithoutProof[0]?.why;
  assert.match(
    whyOf('not-reviewed') ?? '',
    /older than the label of its namespace.*\. Recreate them: kubectl -n shop rollout restart deployment,statefulset,daemonset$/,
  );
  assert.doesNotMatch(whyOf('not-first') ?? '', /kubectl/);
});

suite('pods that prove in warn mode', () => {
  const pods = ['a', 'b'].flatMap((namespace) =>
    ['web', 'api'].map((name): PodFacts => ({ ...pod(name, 'passed', {}), namespace, warns: true })),
  );

  test('are a warning where the configuration enforces, with the command that recreates them', () => {
    const status = tell(pods);
    assert.match(
      status.headline,
      /^No fault\. Warnings: pods in warn mode.*Recreate them: kubectl -n a rollout restart deployment,statefulset,daemonset; kubectl -n b rollout /,
    );
    assert.equal(status.installation.find(({ id }) => id === 'proof-mode')?.result, 'warning');
  });

  test('are none where it warns too, or is not known', () => {
    const warn = configured({ profiles, proof: { mode: 'warn' } });
    assert.doesNotMatch(tell(pods, { configuration: warn }).headline, /warn mode/);
  });
});
