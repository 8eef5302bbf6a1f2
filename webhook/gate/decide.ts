import type { Policy } from '../config/policy.ts';
import type { DaemonSetRef } from '../config/types.ts';
import type { Readiness } from '../readiness/readiness.ts';
import { open, type State } from '../readiness/state.ts';
import type { ClusterView } from './cluster-view.ts';
import type { GatePod } from './gate-pod.ts';
import { holdBegan } from './hold.ts';
import type { Placement } from './placement.ts';
import { type Blocker, refusalText } from './refusal.ts';

/** Why the gate let a pod pass without knowing that its node is ready. */
export type Doubt = 'not-synced' | 'pod-unknown' | 'node-unknown' | 'daemonset-unknown';

/** Why the gate had nothing to judge. */
export type Skipped = 'operation' | 'nothing-promised';

/**
 * What came of a placement. `audited` would have been refused with `gate.mode: enforce`; `unknown` was let through
 * because nobody could tell, and `released` because it had been held for as long as `gate.maxHold` says.
 */
export interface GateDecision {
  outcome: 'allowed' | 'refused' | 'audited' | 'released' | 'unknown' | 'skipped';
  reason: State | Doubt | Skipped | 'held-long-enough';
  /** Of the profile that decided, one that the configuration has. */
  profile?: string;
  profiles: string[];
  warnings: string[];
  /** The text of a refusal. */
  message?: string;
}

/**
 * Whether a pod may be put on a node: only where each DaemonSet of its profiles is ready or does not want the node.
 * What cannot be known is let through, with a warning: the proof in the pod is what the promise rests on.
 *
 * @param pod what is known of a pod that its request does not hold; undefined where nothing is
 * @param now milliseconds since the epoch
 */
export function decidePlacement(
  placement: Placement,
  pod: Pick<GatePod, 'profiles' | 'heldSince'> | undefined,
  view: Pick<ClusterView, 'readiness' | 'notSynced' | 'notObservedSince'>,
  policy: Policy,
  now: number,
): GateDecision {
  const { node } = placement;
  const { readiness } = view;
  if (placement.operation !== 'CREATE' || node === '') return skip('operation');
  if (pod === undefined)
    return doubt('pod-unknown', `pod ${placement.namespace}/${placement.name} is not known`);
  const profiles = pod.profiles.flatMap((name) => policy.profiles.get(name) ?? []);
  const names = profiles.map(({ name }) => name);
  const asked = profiles.flatMap(({ name, daemonSets }) =>
    daemonSets.map((daemonSet) => ({ profile: name, daemonSet })),
  );
  if (asked.length === 0) return { ...skip('nothing-promised'), profiles: names };
  const doubts: GateDecision[] = [];
  let exempt = true;
  for (const { profile, daemonSet } of asked) {
    const about = { profile, profiles: names };
    if (view.notSynced(daemonSet)) {
      doubts.push({ ...notSyncedDoubt(`pods of DaemonSet ${textOf(daemonSet)}`), ...about });
      continue;
    }
    const status = readiness.status(daemonSet, node, now, policy.gate.startupGrace);
    if (status === undefined) {
      doubts.push({ ...unknown({ readiness, daemonSet, node }), ...about });
    } else if (status.state === 'absent' && view.notObservedSince(daemonSet, node)) {
      doubts.push({ ...notSyncedDoubt(`pods of DaemonSet ${textOf(daemonSet)} on node ${node}`), ...about });
    } else if (!open.has(status.state)) {
      const blocker = { node, profile, daemonSet, status };
      return { ...stop(blocker, pod.heldSince, policy, now), ...about };
    } else if (status.state === 'ready') exempt = false;
  }
  const [profile = ''] = names;
  const allowed = { profile, profiles: names, warnings: [] };
  return doubts[0] ?? { outcome: 'allowed', reason: exempt ? 'exempt' : 'ready', ...allowed };
}

const skip = (reason: Skipped): GateDecision => ({ outcome: 'skipped', reason, profiles: [], warnings: [] });

/** A pass for want of knowledge. */
export function doubt(reason: Doubt, why: string): GateDecision {
  return { outcome: 'unknown', reason, profiles: [], warnings: [`not held back: ${why}`] };
}

/** @param missing what has not been listed yet */
export const notSyncedDoubt = (missing: string): GateDecision =>
  doubt('not-synced', `not all is known here yet: ${missing}`);

const textOf = ({ namespace, name }: DaemonSetRef): string => `${namespace}/${name}`;

function unknown({
  readiness,
  daemonSet,
  node,
}: Pick<Blocker, 'daemonSet' | 'node'> & { readiness: Readiness }) {
  return readiness.knows(daemonSet)
    ? doubt('node-unknown', `node ${node} is not known`)
    : doubt('daemonset-unknown', `DaemonSet ${textOf(daemonSet)} does not exist`);
}

/** A refusal, unless the pod has been held for as long as the configuration allows. */
function stop(blocker: Blocker, heldSince: number | undefined, policy: Policy, now: number): GateDecision {
  const { status } = blocker;
  const message = refusalText(blocker);
  const { mode, maxHold } = policy.gate;
  if (heldSince !== undefined && now - holdBegan(heldSince, status, now) > maxHold) {
    const warnings = [`not held back any longer, gate.maxHold is over: ${message}`];
    return { outcome: 'released', reason: 'held-long-enough', profiles: [], warnings };
  }
  const base = { reason: status.state, profiles: [] };
  return mode === 'audit'
    ? { ...base, outcome: 'audited', warnings: [`gate.mode audit: ${message}`] }
    : { ...base, outcome: 'refused', warnings: [], message };
}
