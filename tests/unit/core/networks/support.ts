import { toNodeFacts } from '../../../../webhook/core/facts/node.ts';
import type { PodEvidence, Unready, Verdict } from '../../../../webhook/core/facts/pod-evidence.ts';
import { Evidence, type PodChange } from '../../../../webhook/core/networks/evidence.ts';
import type { Moment } from '../../../../webhook/core/networks/moment.ts';
import type { AskingPod } from '../../../../webhook/core/networks/proof-status.ts';
import { type ProofStatus, proofStatus } from '../../../../webhook/core/networks/proof-status.ts';
import { policyOf } from '../../../support/configurations.ts';
import { apiNode } from './objects.ts';
import { evidencePod } from './pods.ts';

/** The times in this file are relative to this time. */
export const start = Date.parse('2026-11-21T12:00:00Z');
export const seconds = 1000;

/** A pod of the profile `mesh`, described in short form. */
export interface Shown {
  node?: string;
  uid?: string;
  /** The name of the pod's ReplicaSet; empty if the pod has no controller. */
  owner?: string;
  verdict?: Verdict;
  /** When the pod got its verdict, or began to wait, in seconds after {@link start}. */
  at?: number;
  startedAt?: number;
  version?: number;
  profiles?: string[];
  failedProfiles?: string[];
  hasSandbox?: boolean;
  /** When the pod's sandbox was created, in seconds after {@link start}. */
  sandbox?: number;
  run?: number;
  ended?: boolean;
  leaving?: boolean;
  unready?: Unready;
}

let made = 0;

export function podEvidence(shown: Shown = {}): PodEvidence {
  const { node = 'n1', owner = 'web', verdict = 'waiting', at = 0, version = 1, profiles = ['mesh'] } = shown;
  made += 1;
  const uid = shown.uid ?? `pod-${made}`;
  return evidencePod(`${owner}-${uid}`, {
    uid,
    version: String(version),
    node,
    profiles,
    failedProfiles: verdict === 'failed' ? (shown.failedProfiles ?? profiles) : [],
    ...(verdict === 'failed' && { failedVersion: String(version) }),
    ...(owner !== '' && {
      controller: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner },
    }),
    owner: owner === '' ? uid : owner,
    createdAt: start,
    leaving: shown.leaving ?? false,
    ended: shown.ended ?? false,
    verdict,
    at: start + at * seconds,
    startedAt: verdict === 'waiting' ? undefined : start + (shown.startedAt ?? at) * seconds,
    waitingFor: verdict === 'waiting' ? 'the verdict' : '',
    hasSandbox: shown.hasSandbox ?? true,
    sandboxSince: shown.sandbox === undefined ? undefined : start + shown.sandbox * seconds,
    run: shown.run,
    ...(shown.unready && { unready: shown.unready }),
  });
}

/** Evidence that consists of these pods, which a list reported at {@link start}. */
export function evidenceWith(pods: Shown[]): Evidence {
  const evidence = new Evidence();
  evidence.apply(
    pods.map((pod): PodChange => ({ type: 'put', pod: podEvidence(pod), listed: true })),
    start,
  );
  evidence.markSynced();
  return evidence;
}

interface Question {
  profile?: string;
  node?: string;
  mode?: 'ready' | 'proof';
  pod?: AskingPod | undefined;
}

const policies = { ready: policyWith('ready'), proof: policyWith('proof') };

function policyWith(evidence: 'ready' | 'proof') {
  const proof = { checks: [{ address: {} }] };
  return policyOf({ profiles: ['mesh', 'base'].map((name) => ({ name, daemonSets: [], proof, evidence })) });
}

/** A cluster whose events arrive one after another. Times are seconds after {@link start}. */
export class Scene {
  readonly evidence: Evidence;
  /** When the latest container of the network's pod started. */
  started: Moment = { at: Number.NEGATIVE_INFINITY };
  /** `metadata.resourceVersion` of the last event. */
  #version = 100;

  constructor(evidence = evidenceWith([])) {
    this.evidence = evidence;
  }

  /** `metadata.resourceVersion` of the next event. */
  nextVersion(): string {
    this.#version += 1;
    return String(this.#version);
  }

  /** The watch reports a pod at `at`. The change happened at `at` as well, by our clock and by the node's. */
  shows(at: number, shown: Shown): void {
    const pod = podEvidence({ at, version: Number(this.nextVersion()), ...shown });
    this.evidence.apply([{ type: 'put', pod, listed: false }], start + at * seconds);
  }

  /** A pod is bound at `at`, and gets its verdict `takes` seconds later. */
  runs(at: number, uid: string, verdict: Verdict, more: Shown & { takes?: number } = {}): void {
    const { takes = 3, ...shown } = more;
    this.shows(at, { uid, ...shown, verdict: 'waiting' });
    this.shows(at + takes, { uid, ...shown, verdict, startedAt: at });
  }

  goes(at: number, uid: string): void {
    this.evidence.apply([{ type: 'gone', uid }], start + at * seconds);
  }

  /** A container of the network's pod starts. @param at the time by the node's clock */
  agentStarts(at: number): void {
    const version = this.nextVersion();
    this.started = { at: start + at * seconds, after: version, shownBy: version };
  }

  proof(at: number, { profile = 'mesh', node = 'n1', mode = 'proof', pod }: Question = {}): ProofStatus {
    const policy = policies[mode];
    const found = policy.profiles.get(profile);
    const readiness = { node: () => toNodeFacts(apiNode(node, 'b1', 2)), started: () => this.started };
    const facts = { policy, readiness, evidence: this.evidence };
    const proof = found && proofStatus(found, node, facts, start + at * seconds, pod);
    if (proof === undefined) throw new Error(`nothing is known of profile ${profile}`);
    return proof;
  }

  says(at: number, question: Question = {}): string {
    const { state, mayProbe } = this.proof(at, question);
    return `${state}, ${mayProbe ? 'lets' : 'holds'}`;
  }
}
