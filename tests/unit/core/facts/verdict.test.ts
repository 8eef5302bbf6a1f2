import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ContainerStatus, PodStatus } from '../../../../webhook/core/facts/api.ts';
import { type ProofContext, resultOf } from '../../../../webhook/core/facts/verdict.ts';

const at = (time: string): string => `2026-11-21T12:${time}Z`;
const ended = (exitCode: number, more: object = {}) => ({
  terminated: { exitCode, startedAt: at('00:00'), finishedAt: at('00:10'), ...more },
});
const crashLoop = { waiting: { reason: 'CrashLoopBackOff' } };
const sandbox = (status: string, since: string) => [
  { type: 'PodReadyToStartContainers', status, lastTransitionTime: at(since) },
];
const pod = (ours: Omit<ContainerStatus, 'name'>, more: Partial<PodStatus> = {}): PodStatus => ({
  phase: 'Pending',
  initContainerStatuses: [{ name: 'cni-gate-validator', ...ours }],
  ...more,
});
const runs = { name: 'web', state: { running: { startedAt: at('00:11') } } };
const foreign: ProofContext = { foreign: true, leaving: false, sidecar: false };
const deleted: ProofContext = { foreign: true, leaving: true, sidecar: false };
const sidecar: ProofContext = { foreign: false, leaving: false, sidecar: true };

/** States of our init container, and conditions by which the kubelet reports a lost or a newer sandbox. */
const running = { running: { startedAt: at('00:00') } };
const reached = { state: running, started: true };
const passed = { state: ended(0) };
const failing = { state: crashLoop, lastState: ended(95) };
const gone = { conditions: sandbox('False', '01:00') };
const newer = { conditions: sandbox('True', '01:00') };

const cases: [name: string, status: PodStatus, expected: string, context?: ProofContext][] = [
  ['no status yet', {}, 'waiting'],
  ['it runs for the first time', pod({ state: { running: {} } }), 'waiting'],
  ['it runs without a startup probe: `started` says nothing', pod(reached), 'waiting'],
  ['a sidecar that was not reached', pod({ ...reached, started: false }), 'waiting', sidecar],
  ['a sidecar that was reached', pod(reached), 'passed', sidecar],
  [
    'a sidecar that was reached after it failed',
    pod({ ...reached, lastState: ended(95) }),
    'passed',
    sidecar,
  ],
  ['a sidecar that was reached, and the sandbox is gone', pod(reached, gone), 'waiting', sidecar],
  ['a sidecar that was reached in an older sandbox', pod(reached, newer), 'waiting', sidecar],
  ['a sidecar that failed once more', pod({ ...failing, started: false }), 'failed', sidecar],
  ['a sidecar that ended with its Job', pod(passed, { phase: 'Succeeded' }), 'passed', sidecar],
  ['exit code 0', pod(passed), 'passed'],
  ['95 in state, as with restartPolicy Never', pod({ state: ended(95) }, { phase: 'Failed' }), 'failed'],
  ['95 in lastState, as in a crash loop', pod(failing), 'failed'],
  ['95 before, and it runs again', pod({ ...failing, state: running }), 'failed'],
  ['exit code 69', pod({ state: ended(69) }), 'not-possible'],
  ['exit code 64', pod({ state: ended(64) }), 'wrong-usage'],
  ['out of memory', pod({ state: ended(137, { reason: 'OOMKilled' }) }), 'crashed'],
  ['it could not be started', pod({ state: ended(128) }), 'crashed'],
  ['lost in a reboot', pod({ state: ended(255, { reason: 'Unknown' }) }), 'crashed'],
  ['SIGTERM', pod({ state: ended(143) }), 'waiting'],
  ['SIGKILL', pod({ lastState: ended(137) }), 'waiting'],
  ['warn mode, failed', pod({ state: ended(0, { message: '{"code":95,"mode":"warn"}' }) }), 'failed'],
  ['warn mode, not possible', pod({ state: ended(0, { message: '{"code":69}' }) }), 'not-possible'],
  ['warn mode, passed', pod({ state: ended(0, { message: '{"code":0}' }) }), 'passed'],
  ['a pass of an older sandbox', pod({ state: running, lastState: ended(0) }), 'waiting'],
  ['a pass, and the sandbox is gone', pod(passed, gone), 'waiting'],
  ['a pass, and the sandbox is newer', pod(passed, newer), 'waiting'],
  ['a pass of a pod that ended', pod(passed, { phase: 'Succeeded', ...gone }), 'passed'],
  ['a pass, and the runtime restarted', pod(passed, { ...newer, containerStatuses: [runs] }), 'passed'],
  ['a pass, then the condition', pod(passed, { conditions: sandbox('True', '00:15') }), 'passed'],
  ['a failure of an older sandbox', pod({ ...failing, state: running }, newer), 'waiting'],
  ['a failure of this sandbox', pod(failing, { conditions: sandbox('True', '00:00') }), 'failed'],
  ['a failure, then the sandbox is gone', pod(failing, gone), 'waiting'],
  ["linkerd's own validator: 95", pod({ state: ended(95) }), 'failed', foreign],
  ["Istio's own validator: 126", pod({ lastState: ended(126) }), 'failed', foreign],
  ['another one: 1', pod({ lastState: ended(1) }), 'failed', foreign],
  ['another one: 69', pod({ lastState: ended(69) }), 'not-possible', foreign],
  ['another one could not be started', pod({ lastState: ended(128) }), 'crashed', foreign],
  ['ours: 126 is no code of it', pod({ lastState: ended(126) }), 'crashed'],
  ["linkerd's 95 on SIGTERM, during the deletion", pod({ state: ended(95) }), 'waiting', deleted],
];

/** The status of a meshed pod with a witness. The pod has run since 00:11, and the proxy is a sidecar as well. */
const witness = (ours: Omit<ContainerStatus, 'name'>, web: object = runs, more: Partial<PodStatus> = {}) =>
  pod(ours, { phase: 'Running', containerStatuses: [{ name: 'web', ...web }], ...more });
const since = (startedAt: string) => ({ running: { startedAt: at(startedAt) } });

suite('a witness that runs beside what waited for it', () => {
  const runsAgain = { state: since('01:00'), lastState: ended(137) };
  const proxy = { name: 'proxy', state: since('00:11') };
  const ours = { name: 'cni-gate-validator', ...runsAgain, started: true };
  const job = { phase: 'Succeeded' };
  const later: [what: string, status: PodStatus][] = [
    ['it runs again, and the proxy answers its startup probe', witness({ ...runsAgain, started: true })],
    ['it runs again', witness({ ...runsAgain, started: false })],
    ['it was killed', witness({ state: ended(137) })],
    ['it was out of memory', witness({ state: ended(137, { reason: 'OOMKilled' }) })],
    ['it failed as it ran again', witness({ state: crashLoop, lastState: ended(69) })],
    [
      'it ran again, and its Job is complete',
      witness({ state: ended(0, { startedAt: at('01:00') }) }, { state: ended(0) }, job),
    ],
    [
      'its proxy is a sidecar, and nothing else runs',
      witness(ours, { state: crashLoop }, { initContainerStatuses: [ours, proxy] }),
    ],
  ];
  for (const [what, status] of later) {
    test(`shows no verdict of this run: ${what}`, () =>
      assert.deepEqual(resultOf(status, sidecar), { verdict: 'passed', ended: undefined }));
  }

  const first: [what: string, status: PodStatus, expected: string][] = [
    ['it was reached', witness({ state: since('00:00'), started: true }), 'passed'],
    ['its Job is complete', witness({ state: ended(0) }, { state: since('00:11') }, job), 'passed'],
    [
      'another init container runs before it',
      pod({}, { initContainerStatuses: [proxy, { ...ours, state: since('00:12') }] }),
      'passed',
    ],
    ['it failed, and what runs is gone', witness({ state: ended(95) }, { state: ended(255) }), 'failed'],
    [
      'it failed after a power cut, and the pod has ended',
      witness({ state: ended(95, { startedAt: at('01:00') }) }, { state: ended(255) }, { phase: 'Failed' }),
      'failed',
    ],
  ];
  for (const [what, status, expected] of first) {
    test(`shows the verdict of its first run: ${what}`, () => {
      const result = resultOf(status, sidecar);
      assert.deepEqual([result.verdict, typeof result.ended], [expected, 'object']);
    });
  }
});

suite('the verdict of a pod', () => {
  for (const [name, status, expected, context] of cases) {
    test(name, () => assert.equal(resultOf(status, context).verdict, expected));
  }
});
