import { isLost, type Verdict } from '../../core/facts/pod-evidence.ts';
import { duplicateAddresses } from '../../core/networks/duplicate-addresses.ts';
import { nameOf, validatorContainer } from '../../lib/names.ts';
import type { Facts } from '../observe/observe.ts';
import { type PodFacts, withoutProofText } from '../observe/pods.ts';
import { textOf } from './nodes.ts';
import { compare, type Finding, failed, known, notKnown, recreateText, warning } from './row.ts';

/** The rows of all pods that have some, in the order of their names. @throws Settled if pods may not be read */
const ofEach = (facts: Facts, rowsOf: (pod: PodFacts) => Finding[]): Finding[] =>
  (known(facts.pods) ?? []).toSorted((one, other) => compare(nameOf(one), nameOf(other))).flatMap(rowsOf);

const about = (pod: PodFacts) => ({ object: nameOf(pod), node: pod.node ?? null });

/** Pods that the gate refused, and what the leader says about their nomination. */
export const checkHeld = (facts: Facts): Finding[] =>
  ofEach(facts, (pod) => {
    if (pod.held === undefined) return [];
    const { refused: node, since, why, nominated } = pod.held;
    const event = facts.events.found?.get(pod.uid);
    // an event from before the pod was held does not explain this hold
    const note = event && event.at >= (since ?? 0) ? event.note : '';
    const off = facts.configuration.policy.steer.mode === 'off' ? 'steering is off' : note;
    const hint = nominated ? `node ${nominated} is nominated` : off;
    const state = nominated ? 'nominated' : 'held';
    return [failed(null, why, hint, { ...about(pod), node, state, since: textOf(since) })];
  });

/** What each verdict except `passed` means, for containers whose termination message has no details. */
const verdictText: Partial<Record<Verdict, string>> = {
  failed: 'its network is not what it should be',
  'not-possible': 'a check could not be made, which says nothing about the network',
  'wrong-usage': `${validatorContainer} was not started as this release does`,
  crashed: `${validatorContainer} crashed`,
  lost: 'its readiness probe fails',
};

/** Pods whose network is lost, or whose proof did not pass, even if `proof.mode: warn` let the pod start. */
export const checkProofs = (facts: Facts): Finding[] =>
  ofEach(facts, (pod) => {
    const { uid, namespace, name, proof, evidence, seen } = pod;
    const lost = evidence && isLost(evidence, facts.now) ? evidence : undefined;
    if (proof !== 'failed' && lost === undefined) return [];
    const state = lost ? 'lost' : (evidence?.verdict ?? 'failed');
    const since = textOf(lost ? lost.unready?.at : (evidence?.sandboxSince ?? evidence?.at));
    const log = `kubectl -n ${namespace} logs ${name} -c ${validatorContainer}`;
    const hint = facts.events.found?.get(uid)?.note ?? log;
    return [failed(null, seen ?? verdictText[state] ?? '', hint, { ...about(pod), state, since })];
  });

/** Repair's breaker: the leader reports it in the events of failed pods. */
export function checkRepair(facts: Facts): Finding[] {
  const failures = checkProofs(facts);
  if (facts.events.unknown !== undefined && failures.length > 0) return [notKnown(facts.events.unknown)];
  const isStopped = facts.pods.found?.some(({ uid }) => facts.events.found?.get(uid)?.stopped);
  const what = 'repair has stopped for now: most recreated pods failed again';
  return isStopped ? [failed(null, what, 'Look at what the proofs saw')] : [];
}

/** How long, in milliseconds, a pod may wait on its node (for a large image) before it is reported. */
const reportedAfter = 60_000;

/** Pods that have been on their node for long without a verdict. */
export const checkWaiting = (facts: Facts): Finding[] =>
  ofEach(facts, (pod) => {
    if (pod.evidence === undefined) return [];
    const { verdict, leaving, ended, at, createdAt, waitingFor } = pod.evidence;
    const since = at ?? createdAt;
    const isLong = verdict === 'waiting' && !leaving && !ended && facts.now - since >= reportedAfter;
    if (!isLong || pod.proof !== 'waiting') return [];
    const hint = `kubectl -n ${pod.namespace} describe pod ${pod.name}`;
    const more = { ...about(pod), state: 'waiting', since: textOf(since) };
    return [failed(null, `it waits for ${waitingFor}`, hint, more)];
  });

export const checkWithoutProof = (facts: Facts): Finding[] =>
  ofEach(facts, (pod) => {
    const { withoutProof: state, namespace } = pod;
    if (state === undefined) return [];
    return [failed(null, withoutProofText[state], recreateText(namespace), { ...about(pod), state })];
  });

/** Pods keep the mode with which they were created; undefined if the configured mode is `warn`, or not known. */
export function checkProofMode(facts: Facts): Finding[] | undefined {
  const { policy, invalid, unknown } = facts.configuration;
  if (invalid ?? unknown ?? policy.proof.mode === 'warn') return undefined;
  const what = 'created while proof.mode was warn: its containers start whatever the proof finds';
  return ofEach(facts, (pod) =>
    pod.warns ? [warning(what, recreateText(pod.namespace), { ...about(pod), state: 'warn' })] : [],
  );
}

export const checkAddresses = (facts: Facts): Finding[] =>
  duplicateAddresses((known(facts.pods) ?? []).flatMap(({ evidence }) => evidence ?? [])).map(
    ({ network, address, older, younger }) =>
      failed(
        null,
        `its address ${address}${network && ` in network ${network}`} is also that of ${nameOf(older)} on ${older.node}`,
        '',
        { object: nameOf(younger), node: younger.node },
      ),
  );
