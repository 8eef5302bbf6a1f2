import type { ClusterView } from '../core/cluster-view.ts';
import { decisiveStatus, networkStatus } from '../core/networks/network-status.ts';
import { notReadyText } from '../core/networks/refusal.ts';
import { combinedOf, type Policy } from '../core/profiles/policy.ts';
import { clean } from '../lib/clean.ts';
import { CniGateError } from '../lib/errors.ts';

/** The answer to `GET /nodes/NAME?profile=P`: the HTTP status, and a line that changes only with its cause. */
export interface NodeAnswer {
  code: 200 | 404 | 503;
  text: string;
}

export type NodeView = Pick<
  ClusterView,
  'readiness' | 'evidence' | 'unsynced' | 'notSynced' | 'notObservedSince'
>;

/**
 * Whether the gate goes by a node as ready, for programs that set conditions of nodes: 200 with the state if it would
 * let a pod pass, 503 if not or if it does not know yet, 404 if node, profile or DaemonSet do not exist. The answer
 * depends neither on `gate.mode` nor on `gate.maxHold`.
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
  if (view === undefined) return { code: 503, text: 'starting' };
  const combined = combinedOf(policy, label);
  if (combined instanceof CniGateError)
    return { code: 404, text: clean(`${combined.message} (${combined.code})`) };
  // a profile without DaemonSets asks nothing of the node
  if (view.readiness.node(node) === undefined) {
    const missing = view.unsynced();
    return missing === undefined
      ? { code: 404, text: clean(`node ${node} is not known`) }
      : { code: 503, text: `not listed yet: ${missing}` };
  }
  const facts = { policy, doubts: view, readiness: view.readiness, evidence: view.evidence };
  const status = decisiveStatus(combined.profiles.map((profile) => networkStatus(profile, node, facts, now)));
  switch (status.kind) {
    case 'blocked':
      return { code: 503, text: notReadyText(status) };
    case 'unknown':
      return { code: status.reason === 'not-synced' ? 503 : 404, text: status.why };
    case 'try':
      return { code: 200, text: status.state };
    default:
      return { code: 200, text: status.kind };
  }
}
