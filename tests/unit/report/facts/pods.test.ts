import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { reasonText } from '../../../../webhook/admission/mutate/status-annotation.ts';
import { timeText } from '../../../../webhook/lib/time-text.ts';
import { type ApiStatusPod, pickPod } from '../../../../webhook/report/facts/pods.ts';
import { policyOf } from '../../../support/configurations.ts';
import { now } from '../../nodes/readiness/objects.ts';
import { annotationOf as statusOf } from '../objects.ts';

/** A pod that runs with the proof that was promised to it. */
function provedPod(name: string, more: Partial<ApiStatusPod> = {}): ApiStatusPod {
  const { metadata, spec, status } = more;
  return {
    metadata: {
      uid: `${name}-uid`,
      resourceVersion: '1',
      creationTimestamp: '2026-11-21T11:00:00Z',
      namespace: 'shop',
      name,
      annotations: { 'cni-gate.io/status': statusOf(['mesh'], ['redirect']) },
      ...metadata,
    },
    spec: {
      nodeName: 'n1',
      initContainers: [{ name: 'cni-gate-validator' }, { name: 'migrate' }],
      containers: [{ name: 'web' }],
      ...spec,
    },
    status: {
      phase: 'Running',
      initContainerStatuses: [{ name: 'cni-gate-validator', state: { terminated: { exitCode: 0 } } }],
      containerStatuses: [{ name: 'web', state: { running: {} } }],
      ...status,
    },
  };
}

/** Metadata that differs from that of {@link provedPod}. */
const meta = (more: object): ApiStatusPod['metadata'] => more as ApiStatusPod['metadata'];

const policy = policyOf({ profiles: [{ name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] }] });
const unproved = (pod: ApiStatusPod, more: object = {}): string | undefined =>
  pickPod(pod, { policy: policyOf(more), ownNamespace: 'cni-gate' }).unproved;

const annotated = (text: string): Partial<ApiStatusPod> => ({
  metadata: { ...provedPod('web').metadata, annotations: { 'cni-gate.io/status': text } },
});
const bare = { ...provedPod('web').metadata, annotations: {} };
/** A container between two runs, the last of which began so many seconds after the sandbox was there. */
const crashLoop = (seconds: number): ApiStatusPod['status'] => ({
  phase: 'Running',
  conditions: [{ type: 'PodReadyToStartContainers', status: 'True', lastTransitionTime: timeText(now) }],
  containerStatuses: [
    {
      name: 'web',
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 1, startedAt: timeText(now + seconds * 1000) } },
    },
  ],
});

suite('pods that run without a proof', () => {
  const cases: [string, ApiStatusPod, string | undefined][] = [
    ['never reviewed', provedPod('web', { metadata: bare }), 'not-reviewed'],
    ['a status that cannot be read', provedPod('web', annotated('{')), 'not-reviewed'],
    [
      'admitted with a warning in place of a refusal',
      provedPod('web', annotated(reasonText('CNI_GATE_PROFILE_UNKNOWN'))),
      'admitted-with-warning',
    ],
    [
      'the container taken out',
      provedPod('web', { spec: { containers: [{ name: 'web' }], initContainers: null } }),
      'container-missing',
    ],
    [
      'another before ours',
      provedPod('web', {
        spec: {
          containers: [{ name: 'web' }],
          initContainers: [{ name: 'migrate' }, { name: 'cni-gate-validator' }],
        },
      }),
      'not-first',
    ],
    [
      'runs, and the proof failed',
      provedPod('web', {
        status: {
          initContainerStatuses: [{ name: 'cni-gate-validator', state: { terminated: { exitCode: 95 } } }],
        },
      }),
      'not-completed',
    ],
    [
      'a container that was never checked crashes again and again in its sandbox',
      provedPod('web', { metadata: bare, status: { ...crashLoop(100), initContainerStatuses: [] } }),
      'not-reviewed',
    ],
    [
      'the same, and no run of it was in this sandbox',
      provedPod('web', { metadata: bare, status: { ...crashLoop(-100), initContainerStatuses: [] } }),
      undefined,
    ],
    [
      'an init container runs that the webhook never saw',
      provedPod('web', {
        metadata: bare,
        status: {
          phase: 'Pending',
          initContainerStatuses: [{ name: 'migrate', state: { running: {} } }],
          containerStatuses: [],
        },
      }),
      'not-reviewed',
    ],
    [
      'its sandbox is recreated: what ran in the one before is over',
      provedPod('web', {
        status: {
          phase: 'Pending',
          initContainerStatuses: [{ name: 'cni-gate-validator', state: { running: {} } }],
          containerStatuses: [{ name: 'web', state: { terminated: { exitCode: 137 } } }],
        },
      }),
      undefined,
    ],
  ];
  for (const [name, pod, expected] of cases) test(name, () => assert.equal(unproved(pod), expected));
});

test('a pod that opts out where that is not allowed is not skipped', () => {
  const metadata = meta({ ...bare, labels: { 'cni-gate.io/profile': 'none' } });
  assert.equal(unproved(provedPod('x', { metadata }), { proof: { allowOptOut: false } }), 'not-reviewed');
});

test('of a healthy pod only its name and node are kept', () => {
  const facts = pickPod(provedPod('web-0'), { policy, ownNamespace: 'cni-gate' });
  assert.deepEqual(facts, { namespace: 'shop', name: 'web-0', node: 'n1', proof: 'passed' });
});

test('a pod whose label overrides the namespace has its own profile', () => {
  const annotations = {
    'cni-gate.io/status': statusOf(['cilium'], ['address'], { profile: 'cilium', chosenBy: 'pod' }),
  };
  const pod = provedPod('x', {
    metadata: meta({ ...bare, annotations, labels: { 'cni-gate.io/profile': 'cilium' } }),
  });
  assert.equal(pickPod(pod, { policy, ownNamespace: 'cni-gate' }).profile, 'cilium');
});

test('a held pod has its refused node, the time, and its nominated node', () => {
  const message =
    'running Bind plugin "DefaultBinder": admission webhook "bindings.cni-gate.io" denied the request: node n1 is not ready for profile mesh: DaemonSet net/agent is broken there (CNI_GATE_NODE_NOT_READY node=n1 profile=mesh state=broken)';
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    message,
    lastTransitionTime: '2026-11-21T11:59:00Z',
  };
  const status = {
    phase: 'Pending',
    conditions: [condition],
    nominatedNodeName: 'n2',
    initContainerStatuses: [],
    containerStatuses: [],
  };
  const pod = provedPod('x', { spec: { containers: [], nodeName: '' }, status });
  const { held: hold, ...rest } = pickPod(pod, { policy, ownNamespace: 'cni-gate' });
  assert.deepEqual(rest, { namespace: 'shop', name: 'x', proof: 'waiting' });
  assert.deepEqual(hold, {
    refused: 'n1',
    why: 'node n1 is not ready for profile mesh: DaemonSet net/agent is broken there',
    since: Date.parse('2026-11-21T11:59:00Z'),
    nominated: 'n2',
    uid: 'x-uid',
  });
});

suite('the state of the check of a pod', () => {
  const ours = (status: object): Partial<ApiStatusPod> => ({
    status: {
      phase: 'Pending',
      initContainerStatuses: [{ name: 'cni-gate-validator', ...status }],
      containerStatuses: [{ name: 'web', state: {} }],
    },
  });
  const ended = (code: number, message?: string) => ({
    terminated: { exitCode: code, ...(message !== undefined && { message }) },
  });
  const notStarted = { phase: 'Pending', initContainerStatuses: null, containerStatuses: null };
  const cases: [string, Partial<ApiStatusPod>, string][] = [
    ['it runs', {}, 'passed'],
    ['it passed, and other init containers follow', ours({ state: ended(0, '{"code":0}') }), 'passed'],
    ["a mesh's own validator, which writes what it likes", ours({ state: ended(0, 'fine') }), 'passed'],
    ['the network is wrong', ours({ state: ended(95) }), 'failed'],
    ['and it is checked again later', ours({ state: {}, lastState: ended(95) }), 'failed'],
    ['and it is checked again now', ours({ state: { running: {} }, lastState: ended(95) }), 'failed'],
    ['it could not be checked', ours({ state: {}, lastState: ended(69) }), 'failed'],
    ['in warn mode a failure ends with 0', ours({ state: ended(0, '{"code":95,"mode":"warn"}') }), 'failed'],
    ['it is being checked', ours({ state: { running: {} } }), 'waiting'],
    ['the pod went away meanwhile', ours({ state: ended(143) }), 'waiting'],
    ['a pass was of another sandbox', ours({ state: {}, lastState: ended(0) }), 'waiting'],
    ['it waits for a node', { status: notStarted }, 'waiting'],
    ['nothing is promised', annotated(statusOf([], [])), 'leftAlone'],
    ['host network', { metadata: bare, spec: { containers: [], hostNetwork: true } }, 'leftAlone'],
    ['of cni-gate itself', { metadata: meta({ ...bare, namespace: 'cni-gate' }) }, 'leftAlone'],
    [
      'a mirror pod',
      { metadata: meta({ ...bare, annotations: { 'kubernetes.io/config.mirror': 'x' } }) },
      'leftAlone',
    ],
    ['opted out', { metadata: meta({ ...bare, labels: { 'cni-gate.io/profile': 'none' } }) }, 'optedOut'],
    ['it runs, and was not reviewed', { metadata: bare }, 'unproved'],
    ['it is not started, and was not reviewed', { metadata: bare, status: notStarted }, 'waiting'],
  ];
  for (const [name, more, expected] of cases) {
    test(name, () => {
      const facts = pickPod(provedPod('x', more), { policy: policyOf(), ownNamespace: 'cni-gate' });
      assert.equal(facts.proof, expected);
      // the table counts as many as the list has
      assert.equal(facts.proof === 'unproved', facts.unproved !== undefined);
    });
  }
});

test('of a failed proof, what the first check that failed saw is taken from its message', () => {
  const checks = [
    { profile: 'cilium', check: 'address', family: 'IPv4', passed: true },
    { profile: 'linkerd', check: 'redirect', passed: false, reason: 'not-redirected', seen: 'no answer' },
  ];
  const seenIn = (message: string): string | undefined => {
    const state = { terminated: { exitCode: 95, message } };
    const initContainerStatuses = [{ name: 'cni-gate-validator', state }];
    const status = { phase: 'Pending', initContainerStatuses, containerStatuses: [] };
    return pickPod(provedPod('x', { status }), { policy, ownNamespace: 'cni-gate' }).seen;
  };
  const message = JSON.stringify({ verdict: 'failed', code: 95, checks });
  assert.equal(seenIn(message), 'linkerd redirect not-redirected: saw no answer');
  assert.equal(seenIn('{"problem":"no checks are given"}'), 'no checks are given');
  for (const nothing of ['', 'panic: oops', 'null', '[]', '{"checks":[null,{}]}', '7'])
    assert.equal(seenIn(nothing), undefined, nothing);
  assert.equal(seenIn(JSON.stringify({ problem: 'x'.repeat(5000) }))?.length, 512);
});
