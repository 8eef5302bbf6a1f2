import { Evidence, type PodChange } from '../../../../webhook/nodes/evidence/evidence.ts';
import type { PodEvidence, Verdict } from '../../../../webhook/nodes/evidence/facts.ts';
import {
  type NodeProof,
  type ProofQuestion,
  proofOn,
} from '../../../../webhook/nodes/evidence/node-state.ts';
import type { ContainersStart } from '../../../../webhook/nodes/readiness/state.ts';

/** A moment; every time here is counted from it. */
export const start = Date.parse('2026-11-21T12:00:00Z');
export const seconds = 1000;

/** A pod of the profile `mesh`, in few words. */
export interface Shown {
  node?: string;
  uid?: string;
  /** Its owner; empty for itself. */
  owner?: string;
  verdict?: Verdict;
  /** Seconds after {@link start}. */
  at?: number;
  startedAt?: number;
  version?: number;
  profiles?: string[];
  failedProfiles?: string[];
  hasSandbox?: boolean;
  ended?: boolean;
  leaving?: boolean;
}

let made = 0;

export function podEvidence(shown: Shown = {}): PodEvidence {
  const { node = 'n1', owner = 'web', verdict = 'waiting', at = 0, version = 1, profiles = ['mesh'] } = shown;
  made += 1;
  const uid = shown.uid ?? `pod-${made}`;
  return {
    uid,
    namespace: 'shop',
    name: `${owner}-${uid}`,
    version: String(version),
    node,
    profiles,
    failedProfiles: verdict === 'failed' ? (shown.failedProfiles ?? profiles) : [],
    controller:
      owner === '' ? undefined : { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner },
    owner: owner === '' ? uid : owner,
    createdAt: start,
    leaving: shown.leaving ?? false,
    ended: shown.ended ?? false,
    verdict,
    at: start + at * seconds,
    startedAt: verdict === 'waiting' ? undefined : start + (shown.startedAt ?? at) * seconds,
    waitingFor: verdict === 'waiting' ? 'the verdict' : '',
    hasSandbox: shown.hasSandbox ?? true,
    addresses: [],
  };
}

/** Evidence with these pods, as a list reports them at {@link start}. */
export function evidenceWith(pods: Shown[]): Evidence {
  const evidence = new Evidence();
  evidence.apply(
    pods.map((pod): PodChange => ({ type: 'put', pod: podEvidence(pod), listed: true })),
    start,
  );
  evidence.markSynced();
  return evidence;
}

/** A cluster whose events come one after the other. Times are seconds after {@link start}. */
export class Scene {
  readonly evidence: Evidence = new Evidence();
  #started: ContainersStart[] = [];

  /** A pod as an event of the watch reports it; by our clock and by the node's it happened at that time. */
  shows(at: number, shown: Shown): void {
    const pod = podEvidence({ at, ...shown });
    this.evidence.apply([{ type: 'put', pod, listed: false }], start + at * seconds);
  }

  /** A pod that is bound, and whose verdict comes some seconds later. */
  runs(at: number, uid: string, verdict: Verdict, more: Shown & { takes?: number } = {}): void {
    const { takes = 3, ...shown } = more;
    this.shows(at, { uid, ...shown, verdict: 'waiting' });
    this.shows(at + takes, { uid, ...shown, verdict, startedAt: at });
  }

  goes(at: number, uid: string): void {
    this.evidence.apply([{ type: 'gone', uid }], start + at * seconds);
  }

  /** The containers of the DaemonSet's pod start. */
  agentStarts(at: number): void {
    this.#started = [{ at: start + at * seconds }];
  }

  proof(at: number, more: Partial<ProofQuestion> = {}): NodeProof {
    return proofOn(this.evidence, {
      profile: 'mesh',
      node: 'n1',
      mode: 'proof',
      started: this.#started,
      now: start + at * seconds,
      ...more,
    });
  }

  /** State, and whether one more pod may try. */
  says(at: number, more: Partial<ProofQuestion> = {}): string {
    const { state, mayTry } = this.proof(at, more);
    return `${state}, ${mayTry ? 'lets' : 'holds'}`;
  }
}
