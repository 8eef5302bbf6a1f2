import { isLost, type Verdict } from '../../core/facts/pod-evidence.ts';
import { duplicateAddresses } from '../../core/networks/duplicate-addresses.ts';
import { nameOf, validatorContainer } from '../../lib/names.ts';
import type { Facts } from '../observe/observe.ts';
import { type PodFacts, withoutProofText } from '../observe/pods.ts';
import { textOf } from './nodes.ts';
import { compare, type Finding, failed, known, notKnown, warning } from './row.ts';

/** The rows of all pods, in the order of the pods' names. @throws Settled if pods may not be read */
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

/**
 * Pods whose network is lost, or whose proof did not pass, even if `proof.mode: warn` let the pod start. If repair has
 * stopped, which the leader reports in events of these pods, the first row says so.
 */
export function checkProofs(facts: Facts): Finding[] {
  const eventOf = ({ uid }: PodFacts) => facts.events.found?.get(uid);
  const rows = ofEach(facts, (pod) => {
    const { namespace, name, proof, evidence, seen } = pod;
    const lost = evidence && isLost(evidence, facts.now) ? evidence : undefined;
    if (proof !== 'failed' && lost === undefined) return [];
    const state = lost ? 'lost' : (evidence?.verdict ?? 'failed');
    const since = textOf(lost ? lost.unready?.at : (evidence?.sandboxSince ?? evidence?.at));
    const hint = eventOf(pod)?.note ?? `kubectl -n ${namespace} logs ${name} -c ${validatorContainer}`;
    return [failed(null, seen ?? verdictText[state] ?? '', hint, { ...about(pod), state, since })];
  });
  if (rows.length > 0 && facts.events.unknown) return [notKnown(facts.events.unknown), ...rows];
  const stopped = failed(null, 'repair has stopped for now: most recreated pods failed again');
  return facts.pods.found?.some((pod) => eventOf(pod)?.stopped) ? [stopped, ...rows] : rows;
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

/** Pods that run without a proof; and pods in warn mode, because pods keep the mode with which they were created. */
export function checkWithoutProof(facts: Facts): Finding[] {
  const { policy, invalid, unknown } = facts.configuration;
  const isStrict = !(invalid ?? unknown) && policy.proof.mode !== 'warn';
  return ofEach(facts, (pod) => {
    const { withoutProof: state, warns, namespace } = pod;
    const hint = `Recreate it: kubectl -n ${namespace} rollout restart deployment,statefulset,daemonset`;
    if (state !== undefined) return [failed(null, withoutProofText[state], hint, { ...about(pod), state })];
    const what = 'created while proof.mode was warn: its containers start whatever the proof finds';
    return warns && isStrict ? [warning(what, hint, { ...about(pod), state: 'warn-mode' })] : [];
  });
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
