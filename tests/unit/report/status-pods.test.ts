import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PodEvidence } from '../../../webhook/core/facts/pod-evidence.ts';
import type { PodFacts, WithoutProof } from '../../../webhook/report/observe/pods.ts';
import { type Status, statusOf } from '../../../webhook/report/show/status.ts';
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
  statusOf(statusFacts({ ...more, pods }), now, false);

const pod = (name: string, proof: PodFacts['proof'], evidence: Partial<PodEvidence>): PodFacts => ({
  namespace: 'shop',
  name,
  node: 'n1',
  proof,
  evidence: evidenceOf(name, evidence),
});

test('a held pod that no node is nominated for: the last event of this hold, or that steering is off', () => {
  const held = holdOf('web', { refused: 'n1', since: now - 60_000, nominated: '', why: '' });
  const pods: PodFacts[] = [{ namespace: 'shop', name: 'web', proof: 'waiting', held }];
  const shown = (more: MoreStatusFacts): string | null | undefined =>
    tell(pods, more).heldPods[0]?.notNominated;
  const said = (at: number) => ({
    events: new Map([['web-uid', eventOf('NotNominated', 'no node is ready', at)]]),
  });
  assert.equal(shown({}), null);
  assert.equal(shown(said(now - 60_001)), null);
  assert.equal(shown(said(now - 1)), 'no node is ready');
  const configuration = configured({ profiles, steer: { mode: 'off' } });
  assert.equal(shown({ configuration }), 'steering is not in force: pods that are refused wait');
});

suite('failed proofs', () => {
  const failedAt = (at: number, more: Partial<PodFacts> = {}): PodFacts => ({
    ...pod('web', 'failed', { verdict: 'failed', at }),
    ...more,
  });

  test('not well, in the first line; the age is that of the sandbox, where the kubelet says it', () => {
    const { headline, failedPods } = tell([pod('web', 'failed', { verdict: 'crashed', at: now - 5000 })]);
    assert.equal(headline, 'Not all is well: failed proofs: 1.');
    const [{ why, verdict, since } = { why: '' }] = failedPods;
    assert.deepEqual(
      [why, verdict, since],
      ['cni-gate-validator crashed', 'crashed', '2026-11-21T11:59:55Z'],
    );
    const [shown] = tell([failedAt(now - 5000, { failingSince: now - 60_000 })]).failedPods;
    assert.equal(shown?.since, '2026-11-21T11:59:00Z');
  });

  test('what repair says: the last event, that it is not in force, or that it has just begun', () => {
    const event = (reason: string) => new Map([['web-uid', eventOf(reason, 'said')]]);
    const leaderless = { installation: { ...wholeInstallation, lease: absent } };
    const cases: [mode: string, more: MoreStatusFacts, at: number, expected: RegExp | null][] = [
      ['recreate', {}, now - 5000, /^not decided yet: an event /],
      ['recreate', {}, now - 300_000, null],
      ['off', {}, now - 5000, /^not in force: pods whose proof failed stay as they are$/],
      ['recreate', leaderless, now - 5000, /^not in force: Lease .* no replica holds it/],
      ['audit', { events: event('WouldRecreate') }, now - 5000, /^said$/],
      ['recreate', { events: event('NotRecreated') }, now - 5000, /^said$/],
      // the event is from an earlier mode of repair
      ['recreate', { events: event('WouldRecreate') }, now - 300_000, /^not decided yet/],
    ];
    for (const [mode, more, at, expected] of cases) {
      const configuration = configured({ profiles, repair: { mode } });
      const { repair } = tell([failedAt(at)], { configuration, ...more }).failedPods[0] ?? {};
      if (expected === null) assert.equal(repair, null);
      else assert.match(repair ?? '', expected);
    }
  });

  test('repair that has stopped is not in force', () => {
    const events = new Map([['web-uid', { ...eventOf('NotRecreated', 'said'), stopped: true }]]);
    const configuration = configured({ profiles, repair: { mode: 'recreate' } });
    const { inForce, why } = tell([failedAt(now)], { configuration, events }).features[3] ?? {};
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

test('pods in warn mode are a warning, with the commands that recreate them', () => {
  const pods = ['a', 'b'].map(
    (namespace): PodFacts => ({ ...pod('web', 'passed', {}), namespace, warns: true }),
  );
  assert.match(
    tell(pods).headline,
    /^No fault\. Warnings: 2 pods in warn mode.*Recreate them: kubectl -n a rollout restart deployment,statefulset,daemonset; kubectl -n b rollout /,
  );
});
