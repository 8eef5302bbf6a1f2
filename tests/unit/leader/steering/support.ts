import { type NodeFacts, toNodeFacts } from '../../../../webhook/core/facts/node.ts';
import type { PendingPod } from '../../../../webhook/core/facts/pending-pod.ts';
import { apiNode, now } from '../../core/networks/objects.ts';

export { now };

/** A node with 1,000 millicores and with room for ten pods. */
export function node(name: string, more: Partial<NodeFacts> = {}): NodeFacts {
  const allocatable = { cpu: 1000, pods: 10 };
  return { ...toNodeFacts(apiNode(name, 'b1', 1)), labels: { name }, allocatable, ...more };
}

/** A pod that was refused on node n1, and that requests 100 millicores. */
export function waiting(name: string, more: Partial<PendingPod> = {}): PendingPod {
  const { namespace = 'shop' } = more;
  return {
    uid: `${name}-uid`,
    namespace,
    name,
    profiles: ['mesh'],
    heldSince: now - 1000,
    refused: 'n1',
    version: '10',
    nominated: '',
    leaving: false,
    group: 'web',
    key: `${namespace}/webwebwe`,
    weight: 1024,
    constraints: {},
    tolerations: [],
    requests: { cpu: 100, pods: 1 },
    hasVolumes: false,
    unverifiable: false,
    tooLarge: false,
    ...more,
  };
}
