import type { ClusterView } from '../core/cluster-view.ts';
import { decisiveStatus, networkStatus } from '../core/networks/network-status.ts';
import { notReadyText } from '../core/networks/refusal.ts';
import { combinedOf, type Policy } from '../core/profiles/policy.ts';
import { placesOf } from '../core/profiles/types.ts';
import { clean } from '../lib/clean.ts';
import { CniGateError } from '../lib/errors.ts';
import { nameOf } from '../lib/names.ts';

/** The answer to `GET /nodes/NAME?profile=P`: the HTTP status, and a line that changes only with its cause. */
export interface NodeAnswer {
  code: 200 | 404 | 503;
  text: string;
}

export type NodeView = Pick<ClusterView, 'readiness' | 'evidence' | 'unsynced' | 'notSynced'>;

/**
 * Whether the gate treats a node as ready, for programs that set node conditions: 200 with the state if the gate
 * would allow a pod, 503 if it would refuse the pod or does not know yet, 404 if the node, a profile or a DaemonSet
 * does not exist. `gate.mode` and `gate.maxHold` have no effect on the answer.
 *
 * @param label as in the label of a namespace, such as `cilium.linkerd`
 * @param view undefined while the server starts
 * @param now milliseconds since the epoch
 */
export function nodeAnswer(
  node: string,
  label: string,
  view: NodeView | undefined,
  policy: Policy,
  now: number,
): NodeAnswer {
  if (label === '') return { code: 404, text: 'give the profiles, joined by dots: ?profile=NAME.NAME' };
  if (view === undefined) return { code: 503, text: 'starting' };
  const combined = combinedOf(policy, label);
  if (combined instanceof CniGateError)
    return { code: 404, text: clean(`${combined.message} (${combined.code})`) };
  // comes first, because the status of a profile without DaemonSets does not depend on the node
  if (view.readiness.node(node) === undefined) {
    const missing = view.unsynced();
    return missing === undefined
      ? { code: 404, text: clean(`node ${node} is not known`) }
      : { code: 503, text: `not listed yet: ${missing}` };
  }
  const facts = { policy, doubts: view, readiness: view.readiness, evidence: view.evidence };
  const status = decisiveStatus(combined.map((profile) => networkStatus(profile, node, facts, now)));
  switch (status.kind) {
    case 'blocked':
      return { code: 503, text: notReadyText(status) };
    case 'unknown':
      return { code: status.reason === 'not-synced' ? 503 : 404, text: status.why };
    case 'try': {
      // the gate would let a pod try the node, but a mistyped DaemonSet must not make the node count as ready
      const missing = combined
        .flatMap(({ daemonSets }) => daemonSets.map(placesOf))
        .find((places) => !places.some((place) => view.readiness.knows(place)));
      return missing === undefined
        ? { code: 200, text: status.state }
        : { code: 404, text: `DaemonSet ${missing.map(nameOf).join(' or ')} does not exist` };
    }
    default:
      return { code: 200, text: status.kind };
  }
}
