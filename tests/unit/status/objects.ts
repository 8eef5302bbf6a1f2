import { installedWebhooks } from '../../../webhook/names.ts';
import type { Hold, Registered, RegisteredWebhook } from '../../../webhook/status/facts.ts';
import type { ApiStatusPod } from '../../../webhook/status/pick-pod.ts';
import type { WaitingPod } from '../../../webhook/steer/waiting.ts';
import { waiting } from '../steer/support.ts';

/** A pod that runs with the proof that was promised to it. */
export function provedPod(name: string, more: Partial<ApiStatusPod> = {}): ApiStatusPod {
  const { metadata, spec, status } = more;
  return {
    metadata: {
      uid: `${name}-uid`,
      resourceVersion: '1',
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

/** The text of a status annotation. */
export const statusOf = (profiles: string[], checks: string[], more: object = {}): string =>
  JSON.stringify({ version: '0.1.0', profile: 'mesh', chosenBy: 'namespace', profiles, checks, ...more });

/** Metadata that differs from that of {@link provedPod}. */
export const meta = (more: object): ApiStatusPod['metadata'] => more as ApiStatusPod['metadata'];

/** Webhooks of which the API server has all that it needs to call them. */
export const called = (names: readonly string[]): RegisteredWebhook[] =>
  names.map((name) => ({ name, trusted: true }));

/** All that an installation registers. */
export const allRegistered: Registered = {
  mutating: called(installedWebhooks.mutating),
  validating: called(installedWebhooks.validating),
};

/** A pod that is held, and what of it says where it could go. */
export const holdOf = (name: string, hold: Omit<Hold, 'pod'>, more: Partial<WaitingPod> = {}): Hold => ({
  ...hold,
  pod: waiting(name, {
    heldSince: hold.since,
    refused: hold.refused,
    nominated: hold.nominated,
    ...more,
  }),
});
