import { isLost, type Verdict } from '../../core/facts/pod-evidence.ts';
import { duplicateAddresses } from '../../core/networks/duplicate-addresses.ts';
import { skipTexts } from '../../leader/repair/decide.ts';
import { eventReasons, nameOf, validatorContainer } from '../../lib/names.ts';
import { hasWaitedLong } from '../observe/events.ts';
import type { StatusFacts } from '../observe/observe.ts';
import { type PodFacts, type ProofState, proofStates, withoutProofText } from '../observe/pods.ts';
import { recreateText } from './check-result.ts';
import type { FeatureRow } from './features.ts';
import { textOf } from './networks.ts';

/** Counts pods by the state of their proof. */
export function countProofs(pods: Iterable<{ proof: ProofState }>): Record<ProofState, number> {
  const counts = Object.fromEntries(proofStates.map((state) => [state, 0])) as Record<ProofState, number>;
  for (const { proof } of pods) counts[proof] += 1;
  return counts;
}

/** What each verdict except `passed` means, for containers whose termination message has no details. */
const verdictText: Partial<Record<Verdict, string>> = {
  failed: 'its network is not what it should be',
  'not-possible': 'a check could not be made, which says nothing about the network',
  'wrong-usage': `${validatorContainer} was not started as this release does`,
  crashed: `${validatorContainer} crashed`,
};

/** Within this time, in milliseconds, the leader reports a pod that it skips: its delay of 45 s, plus 60 s. */
const decidedWithin = 105_000;

/** The rows of pods that need attention. @param now milliseconds since the epoch */
export function podRows(facts: StatusFacts, features: readonly FeatureRow[], now: number) {
  const { events, configuration } = facts;
  const pods = facts.pods.found;
  const [notSteered, notRepaired] = (['steer', 'repair'] as const).map(
    (name) => features.find(({ feature, inForce }) => feature === name && inForce === false)?.why,
  );
  /** A held pod, and why no node is nominated for it, from the leader's last event. */
  const heldRow = ({ namespace, name, held }: PodFacts) => {
    if (held === undefined) return [];
    const { uid, refused, since, why } = held;
    const nominated = held.nominated || null;
    const event = events.get(uid);
    // an event from before the pod was held does not explain this hold
    const note = event && event.at >= (since ?? 0) ? event.note : null;
    const off = notSteered && `steering is not in force: ${notSteered}`;
    const notNominated = nominated === null ? (off ?? note) : null;
    return [{ namespace, name, refused, since: textOf(since), nominated, notNominated, why }];
  };
  /** A pod whose network is lost, or whose proof did not pass, even if `proof.mode: warn` let the pod start. */
  const failedRow = ({ namespace, name, node, proof, evidence, seen, failingSince }: PodFacts) => {
    const lost = evidence && isLost(evidence, now) ? evidence : undefined;
    if (proof !== 'failed' && lost === undefined) return [];
    const verdict = lost ? 'lost' : (evidence?.verdict ?? 'failed');
    const since = lost ? lost.unready?.at : (failingSince ?? evidence?.at);
    const event = evidence && events.get(evidence.uid);
    // an event of the mode `audit` may be older than a change of the mode
    const isOld =
      event?.reason === eventReasons.wouldRecreate && configuration.policy.repair.mode !== 'audit';
    const isNew = since !== undefined && now - since < decidedWithin;
    const undecided = isNew || isOld ? 'not decided yet: an event follows if it is not recreated' : null;
    const stays = lost && !configuration.policy.recreatesLost(lost.profiles);
    const off = stays ? skipTexts.unready : notRepaired && `not in force: ${notRepaired}`;
    const repair = (!isOld && event?.note) || (off ?? undecided);
    const log = `its rechecks fail: kubectl -n ${namespace} logs ${name} -c ${validatorContainer}`;
    const why = seen ?? (lost ? log : (verdictText[verdict] ?? ''));
    return [{ namespace, name, node: node ?? null, verdict, since: textOf(since), why, repair }];
  };
  /** A pod that has been on its node for long without a verdict, and what it waits for. */
  const waitingRow = ({ proof, evidence }: PodFacts) => {
    if (proof !== 'waiting' || evidence === undefined || !hasWaitedLong(evidence, now)) return [];
    const { uid, namespace, name, node, at, createdAt, waitingFor } = evidence;
    const why = events.get(uid)?.note ?? `it waits for ${waitingFor}`;
    return [{ namespace, name, node, since: textOf(at ?? createdAt), why }];
  };
  const withoutProofRow = ({ namespace, name, node, withoutProof: reason }: PodFacts) => {
    if (reason === undefined) return [];
    const hint = reason === 'not-reviewed' ? `. ${recreateText([{ namespace }])}` : '';
    return [{ namespace, name, node: node ?? null, reason, why: withoutProofText[reason] + hint }];
  };
  const seen = pods.flatMap(({ evidence }) => evidence ?? []);
  return {
    heldPods: pods.flatMap(heldRow),
    podsWithoutProof: pods.flatMap(withoutProofRow),
    failedPods: pods.flatMap(failedRow),
    waitingPods: pods.flatMap(waitingRow),
    duplicateAddresses: duplicateAddresses(seen).map(({ network, address, older, younger }) => ({
      network: network || null,
      address,
      pods: [nameOf(older), nameOf(younger)],
      nodes: [older.node, younger.node],
    })),
  };
}
