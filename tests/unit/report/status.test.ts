import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { toDaemonSetFacts, toNodeFacts } from '../../../webhook/core/facts/node.ts';
import type { PodEvidence } from '../../../webhook/core/facts/pod-evidence.ts';
import { leftByThePolicy } from '../../../webhook/core/policies/conditions.ts';
import { dashboardOf } from '../../../webhook/report/dashboard/data.ts';
import type { InstallationFacts, Webhook } from '../../../webhook/report/observe/installation.ts';
import type { StatusFacts } from '../../../webhook/report/observe/observe.ts';
import type { PodFacts } from '../../../webhook/report/observe/pods.ts';
import { type Status, statusOf } from '../../../webhook/report/show/status.ts';
import { statusText } from '../../../webhook/report/show/status-text.ts';
import { ageText } from '../../../webhook/report/show/table.ts';
import { policyOf } from '../../support/configurations.ts';
import { schemaFaults } from '../../support/schemas.ts';
import { clusterWith } from '../admission/gate/support.ts';
import { apiDaemonSet, apiNode, now } from '../core/networks/objects.ts';
import { compareGolden } from './golden.ts';
import {
  absent,
  allRegistered,
  configured,
  deployment,
  evidenceOf,
  found,
  holdOf,
  kubernetes,
  type MoreStatusFacts,
  mutatingPair,
  nothingInstalled,
  profiles,
  statusFacts,
  wholeInstallation,
} from './objects.ts';
import { eventOf, troubled } from './troubled.ts';

const minuteAgo = now - 60_000;
const schemaFaultsOf = schemaFaults('status');
function tell(facts: StatusFacts, all = false): Status {
  const status = statusOf(facts, now, all);
  assert.deepEqual(schemaFaultsOf(status), []);
  return status;
}
const codes = ({ faults }: Status): string[] => faults.map(({ code }) => code);
const inForce = ({ features }: Status): unknown[] => features.map((feature) => feature.inForce);
/** The status of an installation in which these facts differ from a good installation. */
const installed = (more: Partial<InstallationFacts>): Status =>
  tell(statusFacts({ installation: { ...wholeInstallation, ...more } }));
const firstLine = (status: Status): string => statusText(status, false).split('\n')[0] ?? '';

suite('a status', () => {
  test('of a cluster in trouble: text of 100 columns', () => {
    const status = tell(troubled());
    const text = statusText(status, false, { width: 100 });
    compareGolden('status.txt', text);
    // the first line is never broken, because scripts read it
    const [, ...lines] = text.split('\n');
    assert.deepEqual(
      lines.filter((line) => line.length > 100),
      [],
    );
  });

  test('equal reasons are one row with a count and the greatest age; wide and --all have a row for each', () => {
    const why = 'DaemonSet net/agent is broken there (pod agent-n3): its pod is not Ready';
    const pods = Array.from({ length: 30 }, (_, at): PodFacts => {
      const name = `web-${at + 10}`;
      const nominated = at < 5 ? '' : `n${at}`;
      const held = holdOf(name, { refused: 'n3', since: now - (at + 1) * 60_000, nominated, why });
      return { namespace: 'shop', name, proof: 'waiting', held };
    });
    // each note of the leader contains the name of its pod
    const events = new Map(pods.map(({ name }) => [`${name}-uid`, eventOf('NotNominated', `${name} waits`)]));
    const status = tell(statusFacts({ pods, events, readiness: clusterWith({ n3: {} }) }));
    const text = statusText(status, false, { width: 100 });
    assert.match(text, /^HELD POD .*\nshop\/web-10 and 4 more +n3 +5m +-\n +why: DaemonSet/m);
    assert.match(text, /^shop\/web-15 and 24 more +n3 +30m +n5 and 24 more\n +why: DaemonSet/m);
    for (const all of [statusText(status, false), statusText(status, true, { width: 100 })])
      assert.equal(all.match(/^shop\/web-/gm)?.length, 30);
  });

  test('removes control characters that come from the cluster', () => {
    const namespaces = found([{ name: 'shop\u001b[2J', profile: 'mesh' }]);
    const pods: PodFacts[] = [{ namespace: 'shop\u001b[2J', name: 'x', proof: 'passed' }];
    assert.ok(!statusText(tell(statusFacts({ namespaces, pods })), false).includes('\u001b'));
  });

  test('of 5,000 nodes stays short as text, and JSON and --all have all of them', () => {
    const readiness = clusterWith({ n0: {} });
    for (let at = 1; at < 5000; at++) readiness.setNode(toNodeFacts(apiNode(`n${at}`, 'b1', 1)), now);
    const status = tell(statusFacts({ readiness }));
    assert.equal(status.nodes.length, 4999);
    const text = statusText(status, false);
    assert.ok(text.split('\n').length < 75, text);
    assert.match(text, /^and 4949 more: --all shows them$/m);
    assert.ok(statusText(status, true).split('\n').length > 4999);
  });
});

test('urgent nodes come first, and those of unused profiles last', () => {
  const agents = {
    n1: { ready: false, createdAt: new Date(minuteAgo).toISOString() },
    n2: undefined,
    n3: { ready: false },
  };
  const readiness = clusterWith(agents);
  readiness.setDaemonSet(toDaemonSetFacts(apiDaemonSet('other')));
  const other = { name: 'a-other', daemonSets: [{ namespace: 'net', name: 'other' }] };
  const configuration = configured({ profiles: [other, ...profiles] });
  const order = tell(statusFacts({ readiness, configuration })).nodes.map(
    ({ daemonSet, node }) => `${daemonSet} ${node}`,
  );
  assert.deepEqual(
    order.slice(0, 3),
    ['n3', 'n2', 'n1'].map((node) => `net/agent ${node}`),
  );
});

test('a node without a pod that shows a proof is not called unproved: the replicas know deleted pods', () => {
  const configuration = configured({ profiles, gate: { evidence: 'proof' } });
  const evidence = evidenceOf('web', { at: now - 1000, startedAt: now - 2000 });
  const pods: PodFacts[] = [{ namespace: 'shop', name: 'web', node: 'n1', proof: 'passed', evidence }];
  const status = tell(statusFacts({ configuration, pods }), true);
  assert.deepEqual(
    status.nodes.map(({ node, state, why }) => [node, state, why]),
    [
      ['n1', 'ready', ''],
      [
        'n2',
        'ready',
        'no existing pod shows a proof, but the replicas may remember the proof of a deleted pod',
      ],
    ],
  );
  assert.deepEqual([status.daemonSets[0]?.nodes.ready, status.daemonSets[0]?.nodes.unproved], [2, 0]);
  assert.equal(status.headline, 'All is well. Of note: nodes without a pod that shows their proof: 1.');
  assert.equal(tell(statusFacts({ configuration, pods, namespace: 'shop' })).unprovedNodes, 0);
});

suite('a fault of the installation', () => {
  test('is that of the check, in the first line, and says why features are not in force', () => {
    const status = installed({ slices: found([]) });
    assert.deepEqual([status.result, codes(status)], ['not-well', ['CNI_GATE_NO_ENDPOINTS']]);
    const text = /Service cni-gate\/cni-gate: it has no endpoint, so /;
    assert.match(firstLine(status), text);
    const [prove, gate, steer] = status.features;
    for (const feature of [prove, gate]) assert.match(feature?.why ?? '', text);
    assert.equal(steer?.why, 'the gate is not in force, so no pod is refused');
    assert.deepEqual(inForce(status).slice(0, 3), [false, false, false]);
    assert.equal(status.installation.find(({ id }) => id === 'service')?.result, 'failed');
  });

  test('of one webhook blocks the calls of its own kind only', () => {
    const webhooks = [{ name: 'bindings.cni-gate.io', fault: 'it is old' }];
    const status = installed({ certificate: found({ secret: 'a/b', webhooks }) });
    assert.deepEqual(inForce(status), [true, false, false, false]);
  });

  test('a configuration that is not valid is named first, and labels that it may explain are no fault', () => {
    const trouble = { code: 'CNI_GATE_CONFIG_INVALID' as const, message: 'config.yaml: no mode lenient' };
    const namespaces = found([{ name: 'own', profile: 'fabric' }]);
    const facts = statusFacts({ namespaces, configuration: { ...configured({}), trouble } });
    const status = tell(facts);
    assert.deepEqual(inForce(status), [null, null, null, null]);
    const text = statusText(status, false);
    assert.match(text, /^gate +not known +not known +the ConfigMap is not valid, .* last valid /m);
    const unregistered = tell({ ...facts, registered: { ...allRegistered, mutating: [] } });
    assert.deepEqual(inForce(unregistered), [false, null, null, null]);
    assert.deepEqual([status.result, codes(status)], ['not-well', [trouble.code]]);
    assert.match(firstLine(status), /config\.yaml: no mode lenient.*\(CNI_GATE_CONFIG_INVALID\)$/);
    assert.deepEqual(codes(tell({ ...facts, configuration: configured({}) })), ['CNI_GATE_PROFILE_UNKNOWN']);
  });
});

test('the warning of a check is in the first line, with what to do, and is not green', () => {
  const installation = { ...wholeInstallation, deployment: found(deployment(2, { updatedReplicas: 1 })) };
  const status = installed(installation);
  assert.deepEqual([status.result, status.well], ['well', true]);
  const text = statusText(status, false, { paint: (style, painted) => `<${style}>${painted}</>` });
  assert.match(
    text,
    /^<yellow>No fault\. Warnings: Deployment .*: a rollout is not complete: .*\. Look at "kubectl /,
  );
  assert.match(text, /^deployment +warning +Deployment .*Look at "kubectl/m);
  assert.equal(dashboardOf(statusFacts({ installation }), now).result, 'warning');
  assert.match(statusText(tell(statusFacts()), false, { paint: (style) => style }), /^green\n/);
});

suite('features in force', () => {
  const shown = (settings: object, more: MoreStatusFacts = {}): string[] =>
    tell(statusFacts({ configuration: configured({ profiles, ...settings }), ...more })).features.map(
      ({ feature, mode, inForce: is, why }) => `${feature} ${mode} ${is} ${why}`.trim(),
    );
  const recreating = { repair: { mode: 'recreate' } };

  test('follow the modes of the configuration', () => {
    assert.deepEqual(shown(recreating), [
      'prove enforce true',
      'gate enforce true',
      'steer nominate true',
      'repair recreate true',
    ]);
    assert.deepEqual(shown({ proof: { mode: 'warn' }, gate: { mode: 'audit' }, repair: { mode: 'off' } }), [
      'prove warn false it reports failed checks, and lets the pod start',
      'gate audit false it reports what it would reject, and allows it',
      'steer nominate false the gate is not in force, so no pod is refused',
      'repair off false pods whose proof failed stay as they are',
    ]);
    assert.equal(shown({ steer: { mode: 'off' } })[2], 'steer off false pods that are refused wait');
  });

  test('steering needs a scheduler that uses nominations, and both it and repair need a leader', () => {
    const version = kubernetes(34, 1);
    assert.match(shown({}, { version })[2] ?? '', /false the scheduler of Kubernetes v1\.34\.1 does not use/);
    const leaderless = shown(recreating, { installation: { ...wholeInstallation, lease: absent } });
    for (const line of leaderless.slice(2)) assert.match(line, / false Lease .* no replica holds it, so /);
  });

  test('with a mutating policy, the proof needs no server; without a server, nothing else is in force', () => {
    const version = kubernetes(36);
    const policy = policyOf({ profiles, ...recreating });
    const withPolicy = (installation: StatusFacts['installation'], more: MoreStatusFacts = {}): string[] => {
      const policies = {
        ...installation.policies,
        pods: wholeInstallation.policies.pods,
        mutating: mutatingPair(policy),
      };
      return shown(recreating, { version, installation: { ...installation, policies }, ...more });
    };
    const away = { ...wholeInstallation, slices: found([]) };
    assert.match(shown(recreating, { installation: away })[0] ?? '', /^prove enforce false Service/);
    const [webhook = {} as Webhook] = allRegistered.mutating ?? [];
    const mutating = [{ ...webhook, matchConditions: [...(webhook.matchConditions ?? []), leftByThePolicy] }];
    assert.equal(withPolicy(away, { registered: { ...allRegistered, mutating } })[0], 'prove enforce true');
    // the webhook is called for every pod too
    assert.match(withPolicy(away)[0] ?? '', /^prove enforce false Service/);
    const { installation, registered } = nothingInstalled;
    const why = 'not installed: there are policies, and no server';
    assert.deepEqual(withPolicy(installation, { registered }), [
      'prove enforce true',
      `gate enforce false ${why}`,
      `steer nominate false ${why}`,
      `repair recreate false ${why}`,
    ]);
    assert.deepEqual(
      tell(statusFacts({ version })).headline,
      tell(statusFacts()).headline,
      'only check tells',
    );
  });

  test('a webhook that is not registered is a fault and not in force', () => {
    const registered = { ...allRegistered, mutating: [] };
    const [line] = shown({}, { registered });
    assert.match(line ?? '', /^prove enforce false there is no webhook pods\.cni-gate\.io/);
    assert.deepEqual(codes(tell(statusFacts({ registered }))), ['CNI_GATE_NOT_REGISTERED']);
    const [, gate, steer] = shown({}, { registered: { mutating: undefined, validating: undefined } });
    assert.match(gate ?? '', /^gate enforce null validatingwebhookconfiguration\/cni-gate may not be read\b/);
    assert.equal(steer, 'steer nominate null whether the gate is in force is not known');
  });
});

test('a network that no label requests is listed, and the result stays well', () => {
  const readiness = clusterWith({ n1: undefined });
  const status = tell(statusFacts({ readiness, namespaces: found([]), pods: [] }));
  assert.deepEqual([status.well, status.nodes.length, status.daemonSets[0]?.inUse], [true, 1, false]);
  assert.match(statusText(status, false), /^No namespace has opted in\.$/m);
});

test('a profile that only a pod requests is in use', () => {
  const pods: PodFacts[] = [{ namespace: 'shop', name: 'x', profile: 'lost', proof: 'waiting' }];
  assert.deepEqual(codes(tell(statusFacts({ pods }))), ['CNI_GATE_DAEMONSET_UNKNOWN']);
});

test('a binding of the policy over pods counts as an installation: alone, it refuses every pod', () => {
  const { policies } = nothingInstalled.installation;
  const pods = { policy: absent, binding: wholeInstallation.policies.pods.binding };
  const installation = { ...nothingInstalled.installation, policies: { ...policies, pods } };
  assert.equal(tell(statusFacts({ ...nothingInstalled, installation })).result, 'not-well');
});

test('a probe that was requested but not made leaves the result open; one that failed is a fault', () => {
  const probe = { namespace: null, outcome: 'not-made', what: 'none', reason: 'no-namespace' } as const;
  assert.equal(tell(statusFacts({ probe })).result, 'not-known');
  const failed = { namespace: 'shop', outcome: 'failed', what: 'no', reason: 'refused' } as const;
  assert.deepEqual(codes(tell(statusFacts({ probe: failed }))), ['CNI_GATE_PROBE']);
});

const withPods = (pods: PodFacts[], more: MoreStatusFacts = {}): Status =>
  tell(statusFacts({ ...more, pods }));

const pod = (name: string, proof: PodFacts['proof'], evidence: Partial<PodEvidence>): PodFacts => ({
  namespace: 'shop',
  name,
  node: 'n1',
  proof,
  evidence: evidenceOf(name, evidence),
});

test('a held pod without a nominated node: the last event of this hold, or that steering is off', () => {
  const held = holdOf('web', { refused: 'n1', since: now - 60_000, nominated: '', why: '' });
  const pods: PodFacts[] = [{ namespace: 'shop', name: 'web', proof: 'waiting', held }];
  const shown = (more: MoreStatusFacts): string | null | undefined =>
    withPods(pods, more).heldPods[0]?.notNominated;
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

  test('not well, in the first line; the age is that of the sandbox, if the kubelet reports it', () => {
    const { headline, failedPods } = withPods([pod('web', 'failed', { verdict: 'crashed', at: now - 5000 })]);
    assert.equal(headline, 'Not all is well: failed proofs: 1.');
    const [{ why, verdict, since } = { why: '' }] = failedPods;
    assert.deepEqual(
      [why, verdict, since],
      ['cni-gate-validator crashed', 'crashed', '2026-11-21T11:59:55Z'],
    );
    const [shown] = withPods([failedAt(now - 5000, { failingSince: now - 60_000 })]).failedPods;
    assert.equal(shown?.since, '2026-11-21T11:59:00Z');
  });

  test('the text about repair: the last event, that it is not in force, or that it has just begun', () => {
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
      const { repair } = withPods([failedAt(at)], { configuration, ...more }).failedPods[0] ?? {};
      if (expected === null) assert.equal(repair, null);
      else assert.match(repair ?? '', expected);
    }
  });

  test('a pod whose network is lost: not well, since when, where to look, and what repair does', () => {
    const lost = (since: number): PodFacts =>
      pod('web', 'passed', { unready: { run: 1, at: now - since, shownBy: '1', patience: 10_000 } });
    assert.deepEqual(withPods([lost(9999)]).failedPods, []);
    const { headline, pods, failedPods } = withPods([lost(10_000)]);
    assert.deepEqual([headline, pods.passed], ['Not all is well: lost networks: 1.', 1]);
    const { verdict, since, why } = failedPods[0] ?? { why: '' };
    assert.deepEqual([verdict, since], ['lost', '2026-11-21T11:59:50Z']);
    assert.match(why, /^its readiness probe fails: kubectl -n shop logs web -c cni-gate-validator$/);
    const events = new Map([['web-uid', eventOf('NotRecreated', 'said')]]);
    for (const [onFailure, expected] of [
      ['recreate', 'said'],
      ['unready', 'proof.continuous.onFailure of its profile is not recreate'],
    ]) {
      const proof = { checks: [], witness: 'kubelet', continuous: { onFailure } };
      const configuration = configured({ profiles: [{ name: 'mesh', daemonSets: [], proof }] });
      const more = { configuration, ...(onFailure === 'recreate' && { events }) };
      const [shown] = withPods(
        [lost(10_000)].map((one) => ({
          ...one,
          evidence: { ...one.evidence, profiles: ['mesh'] } as PodEvidence,
        })),
        more,
      ).failedPods;
      assert.equal(shown?.repair, expected);
    }
  });

  test('repair that has stopped is not in force', () => {
    const events = new Map([['web-uid', { ...eventOf('NotRecreated', 'said'), stopped: true }]]);
    const configuration = configured({ profiles, repair: { mode: 'recreate' } });
    const { inForce, why } = withPods([failedAt(now)], { configuration, events }).features[3] ?? {};
    assert.deepEqual([inForce, why], [false, 'it has stopped: most recreated pods failed again']);
  });
});

suite('pods that wait for their sandbox', () => {
  const waiting = (more: Partial<PodEvidence> = {}): PodFacts =>
    pod('web', 'waiting', { verdict: 'waiting', at: now - 90_000, ...more });

  test("for a minute: not well, and the kubelet's last event says why", () => {
    const { headline, waitingPods } = withPods([waiting()], {
      events: new Map([['web-uid', eventOf('FailedMount', 'MountVolume.SetUp failed')]]),
    });
    assert.equal(headline, 'Not all is well: pods that wait: 1.');
    assert.equal(waitingPods[0]?.why, 'MountVolume.SetUp failed');
    assert.equal(withPods([waiting()]).waitingPods[0]?.why, 'it waits for a sandbox');
  });

  test('for less, ended or being deleted: well', () => {
    for (const more of [{ at: now - 50_000 }, { ended: true }, { leaving: true }])
      assert.equal(withPods([waiting(more)]).result, 'well');
  });

  test('the first line counts them, even while all is well', () => {
    const at = now - 50_000;
    const young = ['a', 'b'].map((name) => pod(name, 'waiting', { verdict: 'waiting', at }));
    const { result, headline } = withPods([...young, pod('web', 'passed', {})]);
    assert.deepEqual([result, headline], ['well', 'All is well. Of note: pods that wait: 2.']);
  });
});

test('an address of two live pods is not well; that of a pod that ended or is being deleted is', () => {
  const two = (more: Partial<PodEvidence>): PodFacts[] => [
    pod('a', 'passed', { addresses: ['10.0.0.1'] }),
    pod('b', 'passed', { addresses: ['10.0.0.1'], ...more }),
  ];
  const { duplicateAddresses } = withPods(two({ createdAt: now, node: 'n2' }));
  const expected = { network: null, address: '10.0.0.1', pods: ['shop/a', 'shop/b'], nodes: ['n1', 'n2'] };
  assert.deepEqual(duplicateAddresses, [expected]);
  for (const more of [{ ended: true }, { leaving: true }]) assert.equal(withPods(two(more)).result, 'well');
});

test('ages look like those of kubectl', () => {
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

test('pods in warn mode are a warning, with the commands that recreate them', () => {
  const pods = ['a', 'b'].map(
    (namespace): PodFacts => ({ ...pod('web', 'passed', {}), namespace, warns: true }),
  );
  assert.match(
    withPods(pods).headline,
    /^No fault\. Warnings: 2 pods in warn mode.*Recreate them: kubectl -n a rollout restart deployment,statefulset,daemonset; kubectl -n b rollout /,
  );
});
