import type { Verdict } from '../../core/facts/pod-evidence.ts';
import { duplicateAddresses as findDuplicates } from '../../core/networks/duplicate-addresses.ts';
import { eventReasons, nameOf, validatorContainer } from '../../lib/names.ts';
import { recreateText } from '../checks/finding.ts';
import type { StatusFacts } from '../facts/collect.ts';
import { hasWaitedLong } from '../facts/pod-events.ts';
import type { PodFacts } from '../facts/pods.ts';
import { withoutProofText } from '../facts/proof.ts';
import { textOf } from './nodes.ts';

/** Verdicts other than `passed`, where the container says nothing itself. */
const verdictText: Partial<Record<Verdict, string>> = {
  failed: 'its network is not what it should be',
  'not-possible': 'a check could not be made, which says nothing about the network',
  'wrong-usage': `${validatorContainer} was not started as this release does`,
  crashed: `${validatorContainer} crashed`,
};

/**
 * The pods that the gate holds, and why no node is nominated for each: what the leader last said.
 *
 * @param notSteered why steering is not in force; null where it is
 */
export const heldPods = ({ pods, events }: StatusFacts, notSteered: string | null) =>
  pods.flatMap(({ namespace, name, held }) => {
    if (held === undefined) return [];
    const { uid, refused, since, nominated, why } = held;
    const said = events.get(uid);
    // an event from before this hold says nothing about it
    const note = said && said.at >= (since ?? 0) ? said.note : null;
    const off = notSteered === null ? null : `steering is not in force: ${notSteered}`;
    const notNominated = nominated === '' ? (off ?? note) : null;
    return [
      { namespace, name, refused, since: textOf(since), nominated: nominated || null, notNominated, why },
    ];
  });

/** Within this time, in milliseconds, an event says why a pod is not recreated: `long` of the leader's reporter, and a minute. */
const decided = 105_000;

/**
 * The pods whose proof did not pass, also those that `proof.mode: warn` let start.
 *
 * @param notRepaired why repair is not in force; null where it is
 * @param now milliseconds since the epoch
 */
export const failedPods = (
  { pods, events, configuration }: StatusFacts,
  notRepaired: string | null,
  now: number,
) =>
  pods.flatMap(({ namespace, name, node, proof, evidence, seen, failingSince: since = evidence?.at }) => {
    if (proof !== 'failed') return [];
    const verdict = evidence?.verdict ?? 'failed';
    const event = evidence && events.get(evidence.uid);
    // an event outlives the mode in which it was written
    const isOld =
      event?.reason === eventReasons.wouldRecreate && configuration.policy.repair.mode !== 'audit';
    const off = notRepaired === null ? null : `not in force: ${notRepaired}`;
    const isNew = since !== undefined && now - since < decided;
    const undecided = isNew || isOld ? 'not decided yet: an event follows where it is not recreated' : null;
    return [
      {
        namespace,
        name,
        node: node ?? null,
        verdict,
        since: textOf(since),
        why: seen ?? verdictText[verdict] ?? '',
        repair: (!isOld && event?.note) || (off ?? undecided),
      },
    ];
  });

/**
 * The pods that have been on their node for long without a verdict, and what they wait for.
 *
 * @param now milliseconds since the epoch
 */
export const waitingPods = ({ pods, events }: StatusFacts, now: number) =>
  pods.flatMap(({ proof, evidence }) => {
    if (proof !== 'waiting' || evidence === undefined || !hasWaitedLong(evidence, now)) return [];
    const { uid, namespace, name, node, at, createdAt, waitingFor } = evidence;
    const why = events.get(uid)?.note ?? `it waits for ${waitingFor}`;
    return [{ namespace, name, node, since: textOf(at ?? createdAt), why }];
  });

/** The pods that run without a proof. */
export const podsWithoutProof = (pods: readonly PodFacts[]) =>
  pods.flatMap(({ namespace, name, node, withoutProof: reason }) => {
    if (reason === undefined) return [];
    const hint = reason === 'not-reviewed' ? `. ${recreateText([{ namespace }])}` : '';
    return [{ namespace, name, node: node ?? null, reason, why: withoutProofText[reason] + hint }];
  });

/**
 * The addresses that two live pods have. A pod that is being deleted may have given its address back already: one look
 * cannot tell.
 */
export const duplicateAddresses = (pods: readonly PodFacts[]) =>
  findDuplicates(pods.flatMap(({ evidence }) => (evidence && !evidence.leaving ? evidence : []))).map(
    ({ network, address, older, younger }) => ({
      network: network || null,
      address,
      pods: [older, younger].map(nameOf),
      nodes: [older.node, younger.node],
    }),
  );
