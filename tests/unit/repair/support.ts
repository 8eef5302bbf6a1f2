import { Evidence } from '../../../webhook/evidence/evidence.ts';
import type { Controller, PodEvidence } from '../../../webhook/evidence/facts.ts';
import { ownerKey } from '../../../webhook/evidence/owner.ts';
import { FailedPods } from '../../../webhook/repair/failed-pods.ts';
import type {
  Budgets,
  KnownPods,
  LeftAlone,
  NodeForProfile,
  RepairSnapshot,
} from '../../../webhook/repair/types.ts';

/** When the tests begin: both the time of day and the monotonic clock. */
export const start = Date.UTC(2026, 10, 22, 12);

export const budgets: Budgets = {
  perNodePerMinute: 60,
  perOwnerPerMinute: 60,
  perMinute: 120,
  owners: [],
};

export const controllerOf = (name: string, kind = 'ReplicaSet'): Controller => ({
  apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
  kind,
  name,
  uid: `uid-${name}`,
});

/** The owner of a pod of this controller. */
export const ownerOf = ({
  namespace,
  controller,
  uid,
}: Pick<PodEvidence, 'namespace' | 'uid'> & { controller?: Controller | undefined }): string =>
  controller === undefined ? uid : ownerKey(namespace, controller);

/** A pod of ReplicaSet `web` on node `n1`, whose proof failed a second before the tests begin. */
export function failedPod(given: Partial<PodEvidence> & { name: string }): PodEvidence {
  const profiles = given.profiles ?? ['mesh'];
  return {
    uid: `uid-${given.name}`,
    namespace: 'shop',
    version: '1',
    node: 'n1',
    profiles,
    failedProfiles: given.verdict === undefined || given.verdict === 'failed' ? profiles : [],
    controller: controllerOf('web'),
    owner: ownerOf({
      namespace: 'shop',
      controller: controllerOf('web'),
      uid: `uid-${given.name}`,
      ...given,
    }),
    createdAt: start - 60_000,
    leaving: false,
    ended: false,
    verdict: 'failed',
    at: start - 1000,
    startedAt: start - 11_000,
    waitingFor: '',
    hasSandbox: true,
    addresses: [],
    ...given,
  };
}

export const openNode: NodeForProfile = {
  state: 'open',
  why: '',
  turn: true,
  passedAt: undefined,
};

/** The reducer, with what repair keeps of its changes. */
export class Pods implements KnownPods {
  readonly evidence = new Evidence();
  readonly failed = new FailedPods();

  constructor(...pods: PodEvidence[]) {
    this.evidence.subscribe((changes) => this.failed.apply(changes));
    this.put(start, ...pods);
  }

  /** @param now milliseconds since the epoch */
  put(now: number, ...pods: PodEvidence[]): void {
    this.evidence.apply(
      pods.map((pod) => ({ type: 'put', pod, listed: false })),
      now,
    );
  }

  remove(uid: string): void {
    this.evidence.apply([{ type: 'gone', uid }], start);
  }

  all(): PodEvidence[] {
    return [...this.evidence.pods()];
  }

  pod(uid: string): PodEvidence | undefined {
    return this.evidence.pod(uid);
  }

  ownedBy(owner: string): Iterable<PodEvidence> {
    return this.evidence.ownedBy(owner);
  }

  /** When a proof of the profile last passed on the node, since it booted. */
  passedAt(profile: string, node: string): number | undefined {
    return this.evidence.of(profile, node)?.lastPass?.at;
  }
}

/** A snapshot in which all nodes are like this. */
export function snapshotOf(
  failed: Iterable<PodEvidence>,
  given: Partial<NodeForProfile> & { elsewhere?: boolean; budgets?: Partial<Budgets> } = {},
): RepairSnapshot & { left: LeftAlone[] } {
  const left: LeftAlone[] = [];
  const { elsewhere = false, budgets: other, ...node } = given;
  return {
    failed,
    node: () => ({ ...openNode, ...node }),
    elsewhere: () => elsewhere,
    budgets: { ...budgets, ...other },
    leftAlone: (one) => left.push(one),
    left,
  };
}
