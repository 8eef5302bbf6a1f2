import { noneYet, type State } from '../../core/networks/daemon-set-status.ts';
import { Evidence } from '../../core/networks/evidence.ts';
import { type NetworkFacts, networkStatus } from '../../core/networks/network-status.ts';
import type { Readiness } from '../../core/networks/readiness.ts';
import { type Profile, placesOf } from '../../core/profiles/types.ts';
import { nameOf } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import type { Facts } from '../observe/observe.ts';
import { profilesInUse } from './namespaces.ts';
import { countsText, type Finding, failed, known, knownPolicy, passed } from './row.ts';

/** The text for a ready node whose network no existing pod proves. */
const notShown =
  'no pod that was read shows a proof, but the replicas may remember the proof of a deleted pod';

/** All states: first those that need action, then those that end without action, and last `ready` and `exempt`. */
export const urgency = 'broken failing absent rebooted starting unproved ready exempt'.split(' ');

/**
 * A row for each network in use, with the number of nodes in each state; then a row for each network on each node, the
 * worst state first. States come from DaemonSets and the existing pods.
 */
export function checkNodes(facts: Facts): Finding[] {
  known(facts.namespaces);
  const readiness = known(facts.readiness) as Readiness;
  const policy = knownPolicy(facts.configuration);
  const evidence = new Evidence((name) => policy.profiles.has(name));
  const pods = (known(facts.pods) ?? []).flatMap(({ evidence: pod }) => pod ?? []);
  evidence.apply(
    pods.map((pod) => ({ type: 'put' as const, pod, listed: true })),
    facts.now,
  );
  evidence.markSynced();
  const nodes = [...readiness.nodes()].map(({ name }) => name);
  const all = { policy, readiness, evidence };
  // the check `daemonsets` reports the other networks, whose DaemonSets do not exist
  const existing = profilesInUse(facts).filter(
    ({ daemonSets }) =>
      daemonSets.length === 0 || daemonSets.flatMap(placesOf).some((place) => readiness.knows(place)),
  );
  const rows = existing.flatMap((profile) => nodes.map((node) => rowOf(profile, node, all, facts.now)));
  const counted = existing.map(({ name: object }) => {
    const counts = noneYet();
    for (const row of rows) if (row.object === object) counts[row.state as State] += 1;
    const hint = facts.namespace === undefined ? '' : 'pods of other namespaces were not read';
    return passed(countsText(counts) || 'no nodes', { object, hint, counts });
  });
  // rows of one state stay in the order of the profiles and nodes
  return [...counted, ...rows.toSorted((left, right) => rank(left) - rank(right))];
}

function rowOf(profile: Profile, node: string, facts: NetworkFacts, now: number): Finding {
  const status = networkStatus(profile, node, facts, now);
  const row = { object: profile.name, node };
  if (!('state' in status)) return passed('', { ...row, state: status.kind });
  const { state, reason, daemonSet, pod } = status;
  if (state === 'unproved') return passed(notShown, { ...row, state: 'ready' });
  const isFailing = state === 'failing';
  const since = textOf(status.since);
  const what = daemonSet && !isFailing ? `DaemonSet ${nameOf(daemonSet)}: ${reason}` : reason;
  const hint = daemonSet && pod && !isFailing ? `kubectl -n ${daemonSet.namespace} describe pod ${pod}` : '';
  return failed('CNI_GATE_NODE_NOT_READY', what, hint, { ...row, state, since });
}

const rank = ({ state }: Finding): number => urgency.indexOf(state ?? '');

/** RFC 3339; null where the time is not known. */
export const textOf = (time: number | undefined): string | null =>
  time === undefined ? null : timeText(time);
