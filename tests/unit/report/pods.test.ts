import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { reasonText } from '../../../webhook/core/facts/status-annotation.ts';
import { type ApiStatusPod, type PodFacts, pickPod } from '../../../webhook/report/observe/pods.ts';
import { policyOf } from '../../support/configurations.ts';
import { annotationOf } from './objects.ts';

const ours = 'cni-gate-validator';
const proved = annotationOf(['mesh'], ['redirect']);
const notStarted = { phase: 'Pending', initContainerStatuses: null, containerStatuses: null };

interface Parts {
  annotation?: string | undefined;
  label?: string;
  metadata?: object;
  spec?: object;
  status?: object;
}

/** A running pod with the proof that its profiles require. The given parts replace those of this pod. */
function podWith({ annotation, label, metadata, spec, status }: Parts = {}): ApiStatusPod {
  return {
    metadata: {
      uid: 'x-uid',
      resourceVersion: '1',
      creationTimestamp: '2026-11-21T11:00:00Z',
      namespace: 'shop',
      name: 'x',
      ...(annotation !== undefined && { annotations: { 'cni-gate.io/status': annotation } }),
      ...(label !== undefined && { labels: { 'cni-gate.io/profile': label } }),
      ...metadata,
    },
    spec: {
      nodeName: 'n1',
      initContainers: [{ name: ours }, { name: 'migrate' }],
      containers: [{ name: 'web' }],
      ...spec,
    },
    status: {
      phase: 'Running',
      initContainerStatuses: [{ name: ours, state: { terminated: { exitCode: 0 } } }],
      containerStatuses: [{ name: 'web', state: { running: {} } }],
      ...status,
    },
  } as ApiStatusPod;
}

const pick = (parts: Parts, settings: object = {}): PodFacts =>
  pickPod(podWith(parts), { policy: policyOf(settings), ownNamespace: 'cni-gate' });

const validator = (state: object): Parts => ({
  annotation: proved,
  status: {
    phase: 'Pending',
    initContainerStatuses: [{ name: ours, ...state }],
    containerStatuses: [{ name: 'web', state: {} }],
  },
});
const ended = (exitCode: number, message?: string) => ({ terminated: { exitCode, message } });

/** A pod whose witness was killed and runs again. The pod's other containers kept running. */
const again = (state: object): Parts => ({
  annotation: proved,
  spec: {
    initContainers: [
      { name: ours, restartPolicy: 'Always', env: [{ name: 'CNI_GATE_CHECKS', value: '[{}]' }] },
    ],
  },
  status: {
    initContainerStatuses: [{ name: ours, lastState: ended(137), ...state }],
    containerStatuses: [{ name: 'web', state: { running: { startedAt: '2026-11-21T11:00:00Z' } } }],
  },
});
const running = { running: { startedAt: '2026-11-21T11:30:00Z' } };

suite('the state of the check of a pod', () => {
  const cases: [string, Parts, PodFacts['proof'], PodFacts['withoutProof']?][] = [
    ['it runs', { annotation: proved }, 'passed'],
    ['it passed, and other init containers run', validator({ state: ended(0, '{"code":0}') }), 'passed'],
    ['the network is wrong', validator({ state: ended(95) }), 'failed'],
    ['and it is being checked again', validator({ state: { running: {} }, lastState: ended(95) }), 'failed'],
    [
      'in warn mode a failure ends with 0',
      validator({ state: ended(0, '{"code":95,"mode":"warn"}') }),
      'failed',
    ],
    ['it is being checked', validator({ state: { running: {} } }), 'waiting'],
    ['it waits for a node, and was not reviewed', { status: notStarted }, 'waiting'],
    ['no profile applies', { annotation: annotationOf([], []) }, 'skipped'],
    ['host network', { spec: { hostNetwork: true } }, 'skipped'],
    ['of cni-gate itself', { metadata: { namespace: 'cni-gate' } }, 'skipped'],
    ['opted out', { label: 'none' }, 'opted-out'],
    ['never reviewed', {}, 'without-proof', 'not-reviewed'],
    [
      'left to a server that did not answer',
      { annotation: '{"version":"1","left":"skipped-ports"}' },
      'without-proof',
      'left-to-server',
    ],
    ['a status that cannot be read', { annotation: '{' }, 'without-proof', 'not-reviewed'],
    [
      'admitted with a warning in place of a refusal',
      { annotation: reasonText('CNI_GATE_PROFILE_UNKNOWN') },
      'without-proof',
      'admitted-with-warning',
    ],
    [
      'the container was removed',
      { annotation: proved, spec: { initContainers: null } },
      'without-proof',
      'not-passed',
    ],
    [
      'another before ours',
      { annotation: proved, spec: { initContainers: [{ name: 'migrate' }, { name: ours }] } },
      'without-proof',
      'not-passed',
    ],
    [
      'it runs, and the proof failed',
      { annotation: proved, status: { initContainerStatuses: [{ name: ours, state: ended(95) }] } },
      'without-proof',
      'not-passed',
    ],
    ['its witness runs again, and was reached', again({ state: running, started: true }), 'passed'],
    [
      'its witness runs again, and is not reached',
      again({ state: running, started: false }),
      'without-proof',
      'not-passed',
    ],
    [
      'its witness runs again, and ends',
      again({ state: { waiting: {} }, lastState: ended(69) }),
      'without-proof',
      'not-passed',
    ],
    [
      'its sandbox is recreated: runs in the previous one do not count',
      {
        annotation: proved,
        status: {
          phase: 'Pending',
          initContainerStatuses: [{ name: ours, state: { running: {} } }],
          containerStatuses: [{ name: 'web', state: ended(137) }],
        },
      },
      'waiting',
    ],
  ];
  for (const [name, parts, proof, withoutProof] of cases)
    test(name, () => {
      const facts = pick(parts);
      assert.deepEqual([facts.proof, facts.withoutProof], [proof, withoutProof]);
    });

  test('opted out although that is not allowed: not skipped', () =>
    assert.equal(pick({ label: 'none' }, { proof: { allowOptOut: false } }).withoutProof, 'not-reviewed'));
});

suite('after a power cut, by the status from the kubelet of Kubernetes 1.36', () => {
  const at = (second: number): string => `2026-11-21T11:30:${40 + second}Z`;
  const end = (exitCode: number, reason: string, from: number, to: number) => ({
    terminated: { exitCode, reason, startedAt: at(from), finishedAt: at(to), containerID: `c://${from}` },
  });
  const before = end(0, 'Completed', -20, -20);
  const failed = end(95, 'Error', 2, 12);
  const lost = { state: end(255, 'Unknown', -19, -2), lastState: {} };
  const running = { state: { running: { startedAt: at(3) } }, lastState: lost.state };
  const cases: [string, validator: object, web: object, PodFacts['proof']][] = [
    ['not run again', { state: before, lastState: {} }, lost, 'waiting'],
    ['failed', { state: failed, lastState: before }, lost, 'failed'],
    ['back-off', { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: failed }, lost, 'failed'],
    ['started', { state: end(0, 'Completed', 2, 2), lastState: before }, running, 'passed'],
  ];
  const condition = (type: string, status: string, second: number): object => ({
    type,
    status,
    lastTransitionTime: at(second),
  });
  for (const [name, ofValidator, ofWeb, proof] of cases)
    test(`${name}: ${proof}, whatever the phase and the earlier pass`, () => {
      const status = {
        conditions: [condition('PodReadyToStartContainers', 'True', 2), condition('Ready', 'False', 0)],
        initContainerStatuses: [{ name: ours, restartCount: 1, ...ofValidator }],
        containerStatuses: [{ name: 'web', restartCount: 1, ...ofWeb }],
      };
      const facts = pick({ annotation: proved, label: 'mesh', status });
      assert.deepEqual([facts.proof, facts.withoutProof], [proof, undefined]);
      assert.equal(facts.evidence?.verdict, proof);
    });
});

test('only names, node, and a profile of its own are kept of a healthy pod', () => {
  const facts = { namespace: 'shop', name: 'x', node: 'n1', proof: 'passed' };
  assert.deepEqual(pick({ annotation: proved }), facts);
  const annotation = annotationOf(['cilium'], ['address'], { profile: 'cilium', chosenBy: 'pod' });
  assert.equal(pick({ annotation, label: 'cilium' }).profile, 'cilium');
});

test('the finding of the first failed check is taken from the message of a failed proof', () => {
  const seenIn = (message: string): string | undefined => pick(validator({ state: ended(95, message) })).seen;
  const checks = [
    { profile: 'cilium', check: 'address', family: 'IPv4', passed: true },
    { profile: 'linkerd', check: 'redirect', passed: false, reason: 'not-redirected', seen: 'no answer' },
  ];
  assert.equal(seenIn(JSON.stringify({ checks })), 'linkerd redirect not-redirected: saw no answer');
  assert.equal(seenIn('{"problem":"no checks are given"}'), 'no checks are given');
  for (const nothing of ['', 'panic: oops', '{"checks":[null,{}]}']) assert.equal(seenIn(nothing), undefined);
  assert.equal(seenIn(JSON.stringify({ problem: 'x'.repeat(5000) }))?.length, 512);
});

test('a pod whose init container only warns is marked, unless it is being deleted', () => {
  const variables = { CNI_GATE_CHECKS: '[{}]', CNI_GATE_MODE: 'warn' };
  const env = Object.entries(variables).map(([name, value]) => ({ name, value }));
  const warning = { annotation: proved, label: 'mesh', spec: { initContainers: [{ name: ours, env }] } };
  assert.equal(pick(warning).warns, true);
  const metadata = { deletionTimestamp: '2026-11-21T11:00:00Z' };
  assert.equal(pick({ ...warning, metadata }).warns, undefined);
});
