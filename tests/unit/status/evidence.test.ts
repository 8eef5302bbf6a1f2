import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PodEvidence, Verdict } from '../../../webhook/evidence/facts.ts';
import { podEvents, repairEvents } from '../../../webhook/status/collect/pod-events.ts';
import { ClusterReader } from '../../../webhook/status/collect/reader.ts';
import { statusOf } from '../../../webhook/status/compose.ts';
import type { PodFacts, StatusFacts } from '../../../webhook/status/facts.ts';
import { type ApiStatusPod, pickPod } from '../../../webhook/status/pick-pod.ts';
import { seenIn } from '../../../webhook/status/seen.ts';
import { statusText as toText } from '../../../webhook/status/text.ts';
import { policyOf } from '../../support/configurations.ts';
import { json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { clusterWith } from '../gate/support.ts';
import { now } from '../readiness/objects.ts';
import {
  allRegistered,
  client,
  evidenceOf,
  meta,
  provedPod,
  statusOf as statusText,
  wholeInstallation,
} from './objects.ts';

const policy = policyOf({ profiles: [{ name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] }] });

const factsWith = (...pods: PodFacts[]): StatusFacts => ({
  policy,
  readiness: clusterWith({ n1: {} }),
  registered: allRegistered,
  installation: wholeInstallation,
  scheduler: { version: 'v1.36.3', goesByNominations: true },
  namespaces: [{ name: 'shop', profile: 'mesh' }],
  pods,
});

const tell = (...pods: PodFacts[]) =>
  statusOf(factsWith(...pods), {
    client,
    configuration: 'cni-gate.yaml',
    now,
    all: false,
    namespace: undefined,
  });

const factsOf = (name: string, evidence: Partial<PodEvidence>, proof: PodFacts['proof']): PodFacts => ({
  namespace: 'shop',
  name,
  node: 'n1',
  proof,
  evidence: evidenceOf(name, evidence),
});

suite('failed proofs', () => {
  for (const verdict of ['failed', 'not-possible', 'wrong-usage', 'crashed'] satisfies Verdict[]) {
    test(`${verdict}: not well, and the first line says so`, () => {
      const {
        verdict: is,
        headline,
        failedPods,
      } = tell(factsOf('web', { verdict, at: now - 5000 }, 'failed'));
      assert.equal(is, 'not-well');
      assert.equal(headline, 'Not all is well: failed proofs: 1.');
      assert.equal(failedPods[0]?.verdict, verdict);
      assert.notEqual(failedPods[0]?.why, '');
      assert.equal(failedPods[0]?.since, '2026-11-21T11:59:55Z');
    });
  }

  test('what repair said last is shown, and that it has stopped', () => {
    const pod = factsOf('web', { verdict: 'failed', at: now - 5000 }, 'failed');
    const podEvent = () => ({ note: 'it is not recreated', stopped: true });
    const { failedPods, verbs } = statusOf(
      { ...factsWith(pod), policy: policyOf({ repair: { mode: 'recreate' } }), podEvent },
      { client, configuration: 'cni-gate.yaml', now, all: false, namespace: undefined },
    );
    assert.equal(failedPods[0]?.repair, 'it is not recreated');
    const repair = verbs.find(({ verb }) => verb === 'repair');
    assert.deepEqual(
      [repair?.inForce, repair?.why],
      [false, 'it has stopped: most recreated pods failed again'],
    );
  });

  test('what repair said is shown only in the mode in which it said so', () => {
    const pod = factsOf('web', { verdict: 'failed', at: now - 5000 }, 'failed');
    const shown = (mode: string, audited: boolean) => {
      const podEvent = () => ({ note: 'said', stopped: false, audited });
      const policy = policyOf({ repair: { mode } });
      const options = { client, configuration: 'cni-gate.yaml', now, all: false, namespace: undefined };
      return statusOf({ ...factsWith(pod), policy, podEvent }, options).failedPods[0]?.repair;
    };
    assert.equal(shown('audit', true), 'said');
    assert.equal(shown('recreate', false), 'said');
    assert.equal(shown('recreate', true), null);
    assert.equal(shown('off', false), null);
    assert.equal(shown('off', true), null);
  });

  test('a pod that passed is well', () => assert.equal(tell(factsOf('web', {}, 'passed')).verdict, 'well'));

  test('what the first failed check saw is taken from the message', () => {
    const checks = [
      { profile: 'cilium', check: 'address', family: 'IPv4', passed: true },
      {
        profile: 'linkerd',
        check: 'redirect',
        family: 'IPv4',
        passed: false,
        reason: 'not-redirected',
        seen: 'no answer',
      },
    ];
    const message = JSON.stringify({ verdict: 'failed', code: 95, checks });
    assert.equal(seenIn(message), 'linkerd redirect IPv4 not-redirected: saw no answer');
    assert.equal(seenIn('{"problem":"no checks are given"}'), 'no checks are given');
    for (const nothing of ['', 'panic: oops', 'null', '[]', '{"checks":[null,{}]}', '7']) {
      assert.equal(seenIn(nothing), undefined, nothing);
    }
    assert.equal(seenIn(JSON.stringify({ problem: 'x'.repeat(5000) }))?.length, 512);
  });
});

suite('what is kept of a pod on a node that carries our label', () => {
  const labelled = (more: Partial<ApiStatusPod> = {}): ApiStatusPod => {
    const pod = provedPod('web', more);
    const annotations = { 'cni-gate.io/status': statusText(['mesh'], ['redirect']) };
    return {
      ...pod,
      metadata: meta({ ...pod.metadata, annotations, labels: { 'cni-gate.io/profile': 'mesh' } }),
    };
  };
  const pick = (pod: ApiStatusPod): PodFacts => pickPod(pod, { policy, ownNamespace: 'cni-gate' });

  test('its verdict and addresses', () => {
    const pod = labelled();
    const { evidence } = pick({ ...pod, status: { ...pod.status, podIPs: [{ ip: '10.0.0.1' }] } });
    assert.deepEqual([evidence?.verdict, evidence?.addresses], ['passed', ['10.0.0.1']]);
  });

  test('nothing more where it has no node', () => {
    assert.equal(pick(labelled({ spec: { containers: [], nodeName: '' } })).evidence, undefined);
  });

  test('of a failed proof, what it saw', () => {
    const terminated = {
      exitCode: 95,
      message: '{"checks":[{"check":"gateway","passed":false,"reason":"silent"}]}',
    };
    const initContainerStatuses = [{ name: 'cni-gate-validator', state: { terminated } }];
    const { proof, seen } = pick(
      labelled({ status: { phase: 'Pending', initContainerStatuses, containerStatuses: [] } }),
    );
    assert.deepEqual([proof, seen], ['failed', 'gateway silent']);
  });
});

suite('pods that wait on a node', () => {
  const waiting = (more: Partial<PodEvidence> = {}): PodFacts =>
    factsOf('web', { verdict: 'waiting', at: now - 90_000, ...more }, 'waiting');
  const reasonOf = (pod: PodFacts, event?: string) =>
    statusOf(
      {
        ...factsWith(pod),
        ...(event !== undefined && { podEvent: () => ({ note: event, stopped: false }) }),
      },
      { client, configuration: 'cni-gate.yaml', now, all: false, namespace: undefined },
    ).waitingPods[0];

  test('for a minute: not well', () => {
    assert.equal(tell(waiting()).headline, 'Not all is well: pods that wait: 1 (1 for a sandbox).');
  });

  test('the first line counts all of them by what they wait for, also while that is well', () => {
    const at = now - 50_000;
    const young = ['a', 'b', 'c'].map((name) => factsOf(name, { verdict: 'waiting', at }, 'waiting'));
    const others = ['its image (ErrImagePull)', 'the verdict', 'init container x'].map((waitingFor) =>
      factsOf(waitingFor, { verdict: 'waiting', at, waitingFor }, 'waiting'),
    );
    const pods: PodFacts[] = [
      ...young,
      ...others,
      { namespace: 'shop', name: 'new', proof: 'waiting' },
      factsOf('web', {}, 'passed'),
    ];
    const { verdict, headline, waits } = tell(...pods);
    assert.equal(verdict, 'well');
    assert.equal(
      headline,
      'All is well so far: 7 of 8 pods wait (3 for a sandbox, 1 for a node, 1 for init container x, 2 for others).',
    );
    assert.deepEqual(waits.at(3), { for: 'its image', pods: 1 });
  });

  test('a pod that waits for a node for long is well: that is for the scheduler to tell', () => {
    const { verdict, headline } = tell({ namespace: 'shop', name: 'new', proof: 'waiting' });
    assert.deepEqual([verdict, headline], ['well', 'All is well so far: 1 of 1 pods wait (1 for a node).']);
  });

  test('for less, ended or being deleted: well', () => {
    for (const more of [{ at: now - 50_000 }, { ended: true }, { leaving: true }]) {
      assert.equal(tell(waiting(more)).verdict, 'well');
    }
  });

  const cases: [string, Partial<PodEvidence>, string | undefined, string][] = [
    [
      'Whereabouts has no address left',
      { hasSandbox: false },
      'error at storage engine: Could not allocate IP in range',
      'address',
    ],
    ['its configuration is missing', { hasSandbox: false }, 'whereabouts: config file not found', 'address'],
    [
      'a volume',
      { hasSandbox: false },
      'MountVolume.SetUp failed for volume "x": configmap "x" not found',
      'volume',
    ],
    [
      'another plugin',
      { hasSandbox: false },
      'plugin type="cilium-cni" failed (add): unable to connect',
      'sandbox',
    ],
    ['no event', { hasSandbox: false }, undefined, 'sandbox'],
    ['an image', { waitingFor: 'its image (ImagePullBackOff)' }, undefined, 'image'],
    ['something else', { waitingFor: 'the verdict' }, undefined, 'other'],
  ];
  for (const [name, evidence, event, reason] of cases) {
    test(`${name}: ${reason}`, () => {
      const found = reasonOf(waiting(evidence), event);
      assert.equal(found?.reason, reason);
      assert.equal(found?.why, event ?? `it waits for ${evidence.waitingFor ?? 'a sandbox'}`);
    });
  }
});

suite('duplicate addresses', () => {
  const two = (more: Partial<PodEvidence>): PodFacts[] => [
    factsOf('a', { addresses: ['10.0.0.1'] }, 'passed'),
    factsOf('b', { addresses: ['10.0.0.1'], ...more }, 'passed'),
  ];
  test('of two pods: not well', () => {
    const { headline, duplicateAddresses } = tell(...two({ createdAt: now, node: 'n2' }));
    assert.equal(headline, 'Not all is well: duplicate addresses: 1.');
    const expected = { network: null, address: '10.0.0.1', pods: ['shop/a', 'shop/b'], nodes: ['n1', 'n2'] };
    assert.deepEqual(duplicateAddresses, [expected]);
  });
  test('of a pod that ended or is being deleted: well', () => {
    for (const more of [{ ended: true }, { leaving: true }]) assert.equal(tell(...two(more)).verdict, 'well');
  });
});

suite('events about pods', () => {
  const old = Date.now() - 120_000;
  const waits = (more: Partial<PodEvidence> = {}): PodFacts =>
    factsOf('web', { verdict: 'waiting', at: old, hasSandbox: false, ...more }, 'waiting');
  const note = (text: string, deprecatedLastTimestamp: string, uid = 'web-uid') => ({
    note: text,
    deprecatedLastTimestamp,
    regarding: { uid },
  });
  const items = [
    note('the first', '2026-11-21T11:00:00Z'),
    note('the last\u001b[2J', '2026-11-21T11:01:00Z'),
    note('of somebody else', '2026-11-21T11:02:00Z', 'other-uid'),
  ];

  test('the last one of a pod without a sandbox is read', async (t) => {
    const { client, asked } = await startFakeApi(t, ({ query }, response) =>
      json(response, 200, { items: query.fieldSelector === 'reason=FailedCreatePodSandBox' ? items : [] }),
    );
    const found = await podEvents(new ClusterReader(client, t.signal), { pods: [waits()] });
    assert.deepEqual([...found.keys()], ['web-uid']);
    const text = found.get('web-uid')?.note ?? '';
    assert.ok(text.startsWith('the last') && !text.includes('\u001b'), text);
    assert.deepEqual(
      new Set(asked.map(({ path }) => path)),
      new Set(['/apis/events.k8s.io/v1/namespaces/shop/events']),
    );
  });

  test("the leader's events on failed pods are read, and nobody else's of that name", async (t) => {
    const event = (time: string, name: string, reportingController = 'cni-gate.io/leader') => ({
      metadata: { name: `cni-gate.web-uid.notrecreated.${name}` },
      eventTime: `2026-11-21T11:${time}:00.000000Z`,
      reason: 'NotRecreated',
      regarding: { uid: 'web-uid' },
      reportingController,
      note: name,
    });
    const ofPod = [event('10', 'node-not-ready'), event('11', 'breaker'), event('12', 'forged', 'somebody')];
    const { client, asked } = await startFakeApi(t, ({ query }, response) =>
      json(response, 200, { items: query.fieldSelector === 'reason=NotRecreated' ? ofPod : [] }),
    );
    const failed = factsOf('web', { verdict: 'failed' }, 'failed');
    const found = await podEvents(new ClusterReader(client, t.signal), { pods: [failed] });
    assert.deepEqual(found.get('web-uid'), { note: 'breaker', stopped: true });
    assert.deepEqual(
      asked.map(({ query }) => query.fieldSelector),
      ['reason=Recreated', 'reason=WouldRecreate', 'reason=NotRecreated'],
    );
  });

  test("the leader's events on pods that it deleted are read, the oldest first, and nobody else's", async (t) => {
    const event = (time: string, name: string, more: object = {}) => ({
      eventTime: `2026-11-21T11:${time}:00.000000Z`,
      reason: 'Recreated',
      regarding: { kind: 'Pod', namespace: 'shop', name, uid: `${name}-uid` },
      reportingController: 'cni-gate.io/leader',
      note: `the proof of its network failed on node n1, so it is deleted to be recreated: node n1 is ready`,
      ...more,
    });
    const items = [
      event('12', 'web-2'),
      event('10', 'web-0'),
      event('11', 'forged', { reportingController: 'somebody' }),
      event('11', 'web', { regarding: { kind: 'Deployment', namespace: 'shop', name: 'web' } }),
      event('11', 'odd', { note: 'no node \u001b[31m' }),
    ];
    const { client, asked } = await startFakeApi(t, (_, response) => json(response, 200, { items }));
    const found = await repairEvents(new ClusterReader(client, t.signal), [{ name: 'shop' }]);
    assert.deepEqual(
      found.map(({ name, node, at }) => [name, node, new Date(at).toISOString().slice(11, 16)]),
      [
        ['web-0', 'n1', '11:10'],
        ['odd', null, '11:11'],
        ['web-2', 'n1', '11:12'],
      ],
    );
    assert.ok(!found[1]?.note.includes('\u001b'));
    assert.deepEqual(
      asked.map(({ path, query }) => `${path} ${query.fieldSelector}`),
      ['/apis/events.k8s.io/v1/namespaces/shop/events reason=Recreated'],
    );
  });

  test('nothing is asked where no pod waits for a sandbox', async (t) => {
    const { client, asked } = await startFakeApi(t, (_, response) => json(response, 200, { items }));
    const pods = [waits({ hasSandbox: true }), waits({ at: Date.now() })];
    assert.equal((await podEvents(new ClusterReader(client, t.signal), { pods })).size, 0);
    assert.deepEqual(asked, []);
  });

  test('without the right to read them they are not known', async (t) => {
    const { client } = await startFakeApi(t, (_, response) =>
      json(response, 403, status(403, 'Forbidden', 'no')),
    );
    assert.equal((await podEvents(new ClusterReader(client, t.signal), { pods: [waits()] })).size, 0);
  });
});

suite('what proofs say of nodes', () => {
  const mesh = { name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }], evidence: 'proof' };
  const strict = policyOf({ profiles: [mesh, { name: 'bare', evidence: 'proof' }, { name: 'easy' }] });
  const show = (
    pods: PodFacts[],
    { all = false, profile = 'mesh', asked = undefined as string | undefined } = {},
  ) =>
    statusOf(
      {
        ...factsWith(...pods),
        policy: strict,
        readiness: clusterWith({ n1: {}, n2: {} }),
        namespaces: [{ name: 'shop', profile }],
      },
      { client, configuration: 'cni-gate.yaml', now, all, namespace: asked },
    );
  const failed = (name: string, more: Partial<PodEvidence> = {}): PodFacts => {
    const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: name };
    const times = { at: now - 5000, startedAt: now - 6000 };
    return factsOf(
      name,
      { verdict: 'failed', failedProfiles: ['mesh'], controller, ...times, ...more },
      'failed',
    );
  };

  test('a node that a pod proved is ready, and --all says who proved it and when', () => {
    const status = show([factsOf('web', { at: now - 5000 }, 'passed')], { all: true });
    assert.equal(status.verdict, 'well');
    assert.deepEqual(status.nodeProofs, [
      {
        node: 'n1',
        profile: 'mesh',
        state: 'proved',
        provedBy: 'shop/web',
        provedAt: '2026-11-21T11:59:55Z',
        why: '',
      },
      {
        node: 'n2',
        profile: 'mesh',
        state: 'unproved',
        provedBy: null,
        provedAt: null,
        why: 'no pod has proved its network there yet',
      },
    ]);
    assert.deepEqual(
      status.nodes.map(({ node, state }) => `${node} ${state}`),
      ['n2 unproved', 'n1 ready'],
    );
  });

  test('a node that waits for its first pod is counted, and well', () => {
    const status = show([factsOf('web', {}, 'passed')]);
    assert.deepEqual([status.daemonSets[0]?.nodes.ready, status.daemonSets[0]?.nodes.unproved], [1, 1]);
    assert.deepEqual([status.verdict, status.nodes, status.nodeProofs], ['well', [], []]);
    assert.equal(status.headline, 'All is well. Nodes that no pod has proved yet: 1.');
    assert.match(toText(status, false), /READY {2}UNPROVED\n/);
  });

  test('two owners whose proofs failed there: failing, and not well', () => {
    const status = show([failed('a'), failed('b')]);
    assert.deepEqual(
      status.nodes.map(({ node, state, why }) => [node, state, why]),
      [['n1', 'failing', 'proofs say that the network does not work: pod shop/a failed, pod shop/b failed']],
    );
    assert.equal(
      status.headline,
      'Not all is well: not ready: 1, failed proofs: 2, nodes that no pod has proved yet: 1.',
    );
    const text = toText(status, false);
    assert.match(text, /^n1 +net\/agent +failing/m);
    assert.equal(text.match(/proofs say that/g)?.length, 1, 'the reason is there once');
  });

  test('a network without a DaemonSet is failing as well', () => {
    const of = { profiles: ['bare'], failedProfiles: ['bare'] };
    const status = show([failed('a', of), failed('b', of)], { profile: 'bare' });
    assert.equal(
      status.headline,
      'Not all is well: failing: 1, failed proofs: 2, nodes that no pod has proved yet: 1.',
    );
    assert.deepEqual(
      status.nodeProofs.map(({ node, profile, state }) => [node, profile, state]),
      [['n1', 'bare', 'failing']],
    );
  });

  test('with --all, nobody proved a node against which nothing speaks: it is not called proved', () => {
    const waits = factsOf('web', { verdict: 'waiting', hasSandbox: false, profiles: ['easy'] }, 'waiting');
    assert.deepEqual(show([waits], { all: true, profile: 'easy' }).nodeProofs, []);
  });

  test('-n does not call a node unproved: pods of other namespaces are not known', () => {
    const status = show([], { all: true, asked: 'shop' });
    assert.deepEqual(
      status.nodes.map(({ state }) => state),
      ['ready', 'ready'],
    );
    assert.deepEqual(status.nodeProofs, []);
  });
});
