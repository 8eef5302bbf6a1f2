import type { RepairSettings } from '../config/types.ts';
import { duplicateAddresses as findDuplicates } from '../evidence/duplicates.ts';
import type { PodEvidence, Verdict } from '../evidence/facts.ts';
import { validatorContainer } from '../lib/names.ts';
import { compare, textOf } from './daemon-sets.ts';
import type { PodEventFacts, PodFacts } from './facts.ts';
import type { DuplicateAddressStatus, FailedPod, Wait, WaitingPod, WaitReason } from './model.ts';

/** Milliseconds after which a pod on a node without a verdict is reported: a large image takes that long. */
const long = 60_000;

/** Verdicts other than `passed`, where the container says nothing itself. */
const verdictText: Partial<Record<Verdict, string>> = {
  failed: 'its network is not what it should be',
  'not-possible': 'a check could not be made, which says nothing about the network',
  'wrong-usage': `${validatorContainer} was not started as this release does`,
  crashed: `${validatorContainer} crashed`,
};

/** The pods whose proof did not pass, also those that `proof.mode: warn` let start. */
export const failedPods = (
  pods: readonly PodFacts[],
  { podEvent }: PodEventFacts,
  mode: RepairSettings['mode'],
): FailedPod[] =>
  pods.flatMap(({ namespace, name, node, proof, evidence, seen }) => {
    if (proof !== 'failed') return [];
    const verdict = evidence?.verdict ?? 'failed';
    const why = seen ?? verdictText[verdict] ?? '';
    const event = evidence && podEvent?.(evidence.uid);
    // an event outlives the mode in which it was written
    const isCurrent = mode !== 'off' && (mode === 'audit' || event?.audited !== true);
    const repair = (isCurrent && event?.note) || null;
    const since = textOf(evidence?.at);
    return [{ namespace, name, node: node ?? null, verdict, since, why, repair }];
  });

/** Whether the leader says of a failed pod that repair has stopped. */
export const isRepairStopped = (pods: readonly PodFacts[], { podEvent }: PodEventFacts): boolean =>
  pods.some(({ evidence }) => evidence && podEvent?.(evidence.uid)?.stopped === true);

/**
 * The pods that have been on their node for long without a verdict, and what they wait for.
 *
 * @param now milliseconds since the epoch
 */
export const waitingPods = (
  pods: Iterable<PodFacts>,
  { podEvent }: PodEventFacts,
  now: number,
): WaitingPod[] =>
  podsWaiting(pods, now).map((pod) => {
    const { uid, namespace, name, node, at, createdAt } = pod;
    const event = podEvent?.(uid)?.note;
    const why = event ?? `it waits for ${pod.waitingFor}`;
    return { namespace, name, node, since: textOf(at ?? createdAt), reason: reasonOf(pod, event), why };
  });

/** What the pods without a verdict wait for that the gate does not hold, the most of them first. */
export function waitsOf(pods: readonly PodFacts[]): Wait[] {
  const counts = new Map<string, number>();
  for (const { proof, node, evidence, held } of pods) {
    if (proof !== 'waiting' || held !== undefined) continue;
    // without what the kubelet says in brackets, so that few kinds are left
    const [what = ''] = (evidence?.waitingFor ?? '').split(' (');
    const kind = node === undefined ? 'a node' : what || 'the kubelet';
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return Array.from(counts, ([kind, count]) => ({ for: kind, pods: count })).toSorted(
    (one, other) => other.pods - one.pods || compare(one.for, other.for),
  );
}

/**
 * What is known of these pods.
 *
 * @param now milliseconds since the epoch
 */
export const podsWaiting = (pods: Iterable<PodFacts>, now: number): PodEvidence[] =>
  Array.from(pods).flatMap(({ proof, evidence }) =>
    proof === 'waiting' && evidence !== undefined && waitsForLong(evidence, now) ? [evidence] : [],
  );

const waitsForLong = ({ verdict, leaving, ended, at, createdAt }: PodEvidence, now: number): boolean =>
  verdict === 'waiting' && !leaving && !ended && now - (at ?? createdAt) >= long;

/** Words by which IPAM plugins say that they have no address to give. */
const ofAddresses = /ipam|whereabouts|\bIPs?\b|address/i;
const ofVolumes = /volume|mount/i;

/** @param event what the kubelet said */
function reasonOf({ hasSandbox, waitingFor }: PodEvidence, event = ''): WaitReason {
  if (hasSandbox !== false) return /image/.test(waitingFor) ? 'image' : 'other';
  if (ofVolumes.test(event)) return 'volume';
  return ofAddresses.test(event) ? 'address' : 'sandbox';
}

/**
 * The addresses that two live pods have. A pod that is being deleted may have given its address back already: one look
 * cannot tell.
 */
export const duplicateAddresses = (pods: readonly PodFacts[]): DuplicateAddressStatus[] =>
  findDuplicates(pods.flatMap(({ evidence }) => (evidence && !evidence.leaving ? evidence : []))).map(
    ({ network, address, older, younger }) => ({
      network: network || null,
      address,
      pods: [older, younger].map(({ namespace, name }) => `${namespace}/${name}`),
      nodes: [older.node, younger.node],
    }),
  );
