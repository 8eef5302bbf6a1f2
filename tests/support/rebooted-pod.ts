import { timeText } from '../../webhook/lib/time-text.ts';

/** The steps after a power cut at which the kubelet writes the pod's status, in their order. */
export type Rebooted = 'not run again' | 'failed' | 'back-off' | 'started';

/** The pod's status as the kubelet of Kubernetes 1.36 wrote it. @param boot when the node booted, in milliseconds */
export function rebootedPod(boot: number, step: Rebooted): object {
  const at = (seconds: number): string => timeText(boot + seconds * 1000);
  const ended = (exitCode: number, reason: string, from: number, to: number) => ({
    terminated: {
      exitCode,
      reason,
      startedAt: at(from),
      finishedAt: at(to),
      containerID: `containerd://${from}`,
    },
  });
  const before = ended(0, 'Completed', -20, -20);
  const failed = ended(95, 'Error', 2, 12);
  const validator: Record<Rebooted, object> = {
    'not run again': { state: before, lastState: {} },
    failed: { state: failed, lastState: before },
    'back-off': { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: failed },
    started: { state: ended(0, 'Completed', 2, 2), lastState: before },
  };
  const lost = ended(255, 'Unknown', -19, -2);
  const container = (name: string, state: object): object => {
    return { name, image: 'example/web', imageID: '', restartCount: 1, ready: false, ...state };
  };
  return {
    phase: 'Running',
    conditions: [
      { type: 'PodReadyToStartContainers', status: 'True', lastTransitionTime: at(2) },
      { type: 'Initialized', status: 'True', lastTransitionTime: at(-19) },
      { type: 'Ready', status: 'False', reason: 'ContainersNotReady', lastTransitionTime: at(0) },
      { type: 'PodScheduled', status: 'True', lastTransitionTime: at(-21) },
    ],
    initContainerStatuses: [container('cni-gate-validator', validator[step])],
    containerStatuses: [
      container(
        'web',
        step === 'started'
          ? { state: { running: { startedAt: at(3) } }, lastState: lost }
          : { state: lost, lastState: {} },
      ),
    ],
  };
}
