import { type NodeFacts, toNodeFacts } from '../../../../webhook/core/facts/node.ts';
import type { PendingPod } from '../../../../webhook/core/facts/pending-pod.ts';
import { pending } from '../../admission/gate/support.ts';
import { apiNode, now } from '../../core/networks/objects.ts';

export { now };

/** A node with 1,000 millicores and with room for ten pods. */
export function node(name: string, more: Partial<NodeFacts> = {}): NodeFacts {
  const allocatable = { cpu: 1000, pods: 10 };
  return { ...toNodeFacts(apiNode(name, 'b1', 1)), labels: { name }, allocatable, ...more };
}

/** A pod that the gate refused to bind to node n1, and that requests 100 millicores. */
export function waiting(name: string, more: Partial<PendingPod> = {}): PendingPod {
  const { namespace = 'shop' } = more;
  const refused = { refused: 'n1', heldSince: now - 1000, requests: { cpu: 100, pods: 1 } };
  const known = { version: '10', group: 'web', key: `${namespace}/webwebwe` };
  return { ...pending({ uid: `${name}-uid`, name }), ...refused, ...known, ...more };
}
