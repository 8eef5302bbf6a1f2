import { isLost, type Verdict } from '../../core/facts/pod-evidence.ts';
import { duplicateAddresses } from '../../core/networks/duplicate-addresses.ts';
import { nameOf, validatorContainer } from '../../lib/names.ts';
import type { Facts } from '../observe/observe.ts';
import { type PodFacts, withoutProofText } from '../observe/pods.ts';
import { textOf } from './nodes.ts';
import { type Finding, failed, known, warning } from './row.ts';

/** The rows of all pods. A pod may have none. @throws Settled if the permission to read pods is missing */
const ofEach = (facts: Facts, rowsOf: (pod: PodFacts) => Finding[]): Finding[] =>
  (known(facts.pods) ?? []).flatMap(rowsOf);

const about = (pod: PodFacts) => ({ object: nameOf(pod), node: pod.node ?? null });

/** The command that shows the leader's events on a pod, such as why no node is nominated for the pod. */
const describing = ({ namespace, name }: PodFacts): string => `kubectl -n ${namespace} describe pod ${name}`;

/** Pods that the gate refused. */
export const checkHeld = (facts: Facts): Finding[] =>
  ofEach(facts, (pod) => {
    if (pod.held === undefined) return [];
    const { refused: node, since, why, nominated } = pod.held;
    const isOff = facts.configuration.policy.steer.mode === 'off';
    const advice = isOff ? 'steering is off' : describing(pod);
    const state = nominated ? 'nominated' : 'held';
    const hint = nominated ? `node ${nominated} is nominated` : advice;
    return [failed(null, why, hint, { ...about(pod), node, state, since: textOf(since) })];
  });

/** What a verdict means. Used if the container's termination message has no details. */
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
    const { proof, evidence, seen } = pod;
    const lost = evidence && isLost(evidence, facts.now) ? evidence : undefined;
    if (proof !== 'failed' && lost === undefined) return [];
    const state = lost ? 'lost' : (evidence?.verdict ?? 'failed');
    const since = textOf(lost ? lost.unready?.at : (evidence?.sandboxSince ?? evidence?.at));
    const what = seen ?? verdictText[state] ?? '';
    return [failed(null, what, describing(pod), { ...about(pod), state, since })];
  });

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
    const more = { ...about(pod), state: 'waiting', since: textOf(since) };
    return [failed(null, `it waits for ${waitingFor}`, describing(pod), more)];
  });

/** Pods that run without a proof; and pods that were created in warn mode, if it is no longer configured. */
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
