import { type Controller, ownerKey, type PodEvidence } from '../../../../webhook/core/facts/pod-evidence.ts';
import type { RepairSettings } from '../../../../webhook/core/profiles/types.ts';
import type { RepairFacts, Skipped } from '../../../../webhook/leader/repair/decide.ts';
import type { NodeForProfile } from '../../../../webhook/leader/repair/networks.ts';
import { evidencePod, now as start } from '../../core/networks/pods.ts';

/** The time at which the tests begin. */
export { start };

export const budgets: Omit<RepairSettings, 'mode' | 'owners'> = {
  perNodePerMinute: 60,
  perOwnerPerMinute: 60,
  perMinute: 120,
};

export const controllerOf = (name: string, kind = 'ReplicaSet'): Controller => ({
  apiVersion: { Job: 'batch/v1', ReplicationController: 'v1' }[kind] ?? 'apps/v1',
  kind,
  name,
  uid: `uid-${name}`,
});

/** A pod of ReplicaSet `web` on node `n1`, whose proof failed a second before the tests begin. */
export function failedPod(given: Partial<PodEvidence> & { name: string }): PodEvidence {
  const controller = 'controller' in given ? given.controller : controllerOf('web');
  const { namespace = 'shop', name, profiles = ['mesh'], verdict = 'failed' } = given;
  return evidencePod(name, {
    uid: `uid-${name}`,
    node: 'n1',
    profiles,
    failedProfiles: verdict === 'failed' ? profiles : [],
    controller,
    owner: controller === undefined ? `uid-${name}` : ownerKey(namespace, controller),
    createdAt: start - 60_000,
    verdict,
    at: start - 1000,
    startedAt: start - 11_000,
    failedVersion: '10',
    ...given,
  });
}

/** The pod of {@link failedPod}, but its proof passed, and its network was lost a minute before the tests begin. */
export const lostPod = (given: Partial<PodEvidence> & { name: string }): PodEvidence =>
  failedPod({
    profiles: ['mesh'],
    failedProfiles: ['mesh'],
    verdict: 'passed',
    startedAt: start - 600_000,
    unready: { run: 1, at: start - 60_000, after: '9', shownBy: '10', patience: 10_000 },
    ...given,
  });

export const openNode: NodeForProfile = { state: 'open', why: '', passedAt: undefined };

export const factsWith = (
  given: Partial<NodeForProfile> = {},
  { elsewhere = false, limit }: { elsewhere?: boolean; limit?: Skipped } = {},
): RepairFacts => ({
  owners: [],
  enforces: true,
  node: () => ({ ...openNode, ...given }),
  recreatesLost: () => true,
  now: start,
  ownedBy: () => [],
  elsewhere: () => elsewhere,
  limit: () => limit,
});
