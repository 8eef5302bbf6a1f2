import type { GateView } from '../../../../webhook/admission/gate.ts';
import { toAgentFacts, toDaemonSetFacts, toNodeFacts } from '../../../../webhook/core/facts/node.ts';
import { type PendingPod, toPendingPod } from '../../../../webhook/core/facts/pending-pod.ts';
import { noEvidence } from '../../../../webhook/core/networks/evidence.ts';
import { Holds } from '../../../../webhook/core/networks/holds.ts';
import { Readiness } from '../../../../webhook/core/networks/readiness.ts';
import { type AgentOptions, apiAgent, apiDaemonSet, apiNode, now } from '../../core/networks/objects.ts';

/** A cluster with the DaemonSet `net/agent`. @param agents the DaemonSet's pod by node; undefined if there is none */
export function clusterWith(agents: Record<string, AgentOptions | undefined>): Readiness {
  const readiness = new Readiness();
  readiness.setDaemonSet(toDaemonSetFacts(apiDaemonSet('agent')));
  for (const [name, options] of Object.entries(agents)) {
    readiness.setNode(toNodeFacts(apiNode(name, 'b1', 1)), now);
    if (options) readiness.setAgent(toAgentFacts(apiAgent(name, options)));
  }
  return readiness;
}

export function pending(more: Partial<PendingPod> = {}): PendingPod {
  const { uid = 'u1' } = more;
  const metadata = {
    ...{ uid, resourceVersion: '1', namespace: 'shop', name: 'web-0', creationTimestamp: '' },
    annotations: { 'cni-gate.io/status': '{"profiles":["mesh"]}' },
  };
  return { ...toPendingPod({ metadata, spec: {} }), ...more };
}

/** The state that the gate knows: a waiting pod, and node n1, on which the DaemonSet's pod is not ready. */
export const gateView = (more: Partial<GateView> = {}): GateView => ({
  readiness: clusterWith({ n1: { ready: false } }),
  pods: { pod: () => pending() },
  holds: new Holds(),
  unsynced: () => undefined,
  notSynced: () => false,
  evidence: noEvidence,
  ...more,
});

/** The AdmissionReview of a Binding as the scheduler sends it. @param more replaces fields of the request */
export function binding(node = 'n1', more: object = {}): object {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'r1',
      kind: { group: '', version: 'v1', kind: 'Binding' },
      subResource: 'binding',
      name: 'web-0',
      namespace: 'shop',
      operation: 'CREATE',
      object: {
        metadata: { name: 'web-0', namespace: 'shop', uid: 'u1' },
        target: { kind: 'Node', name: node },
      },
      ...more,
    },
  };
}
