import { type GateDecision, gate } from '../../../../webhook/admission/gate.ts';
import { decodePlacement } from '../../../../webhook/admission/placement.ts';
import type { ClusterView } from '../../../../webhook/core/cluster-view.ts';
import type { PendingPod } from '../../../../webhook/core/facts/pending-pod.ts';
import { Evidence } from '../../../../webhook/core/networks/evidence.ts';
import { Holds } from '../../../../webhook/core/networks/holds.ts';
import { policyOf } from '../../../support/configurations.ts';
import { now } from '../../core/networks/objects.ts';
import { podEvidence, type Shown } from '../../core/networks/support.ts';
import { binding, clusterWith, gateView, pending } from './support.ts';

const proof = { checks: [{ address: {} }] };

const profiles = [
  { name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }], evidence: 'proof', proof },
  { name: 'bare', evidence: 'proof', proof },
  { name: 'old', daemonSets: [{ namespace: 'net', name: 'agent' }] },
  {
    name: 'both',
    daemonSets: [
      { namespace: 'net', name: 'slow' },
      { namespace: 'net', name: 'agent' },
    ],
    evidence: 'proof',
    proof,
  },
];

/** A replica of the gate. The DaemonSet is ready on n1 and n2, and has no pod on n3. Times are milliseconds. */
export class Replica {
  readonly evidence = new Evidence();
  readonly readiness = clusterWith({ n1: {}, n2: {}, n3: undefined });
  readonly holds = new Holds();
  readonly #waiting = new Map<string, PendingPod>();
  readonly #gate: object;

  constructor(gate: object = {}, synced = true) {
    this.#gate = gate;
    if (synced) this.evidence.markSynced();
  }

  get policy() {
    return policyOf({ profiles, gate: this.#gate });
  }

  get view(): Pick<ClusterView, 'readiness' | 'evidence' | 'holds' | 'pending'> {
    return { ...this, pending: () => Array.from(this.#waiting.values(), (pod) => this.holds.of(pod)) };
  }

  /** The watch of pods on nodes reports a pod. */
  shows(shown: Shown, at = now): void {
    this.evidence.apply([{ type: 'put', pod: podEvidence(shown), listed: false }], at);
  }

  /** The watch of pods that wait for a node reports a pod. */
  waits(pod: Partial<PendingPod>, at = now, listed = false): void {
    const shown = pending(pod);
    this.#waiting.set(shown.uid, shown);
    this.holds.observe(shown, listed, at);
  }

  /** The watch of waiting pods reports that a pod no longer waits. */
  waitsNoLonger(uid: string, at = now): void {
    this.#waiting.delete(uid);
    this.holds.forget(uid);
    this.evidence.reservations.stoppedWaiting(uid, at);
  }

  /** The decision about the Binding of a waiting pod, or about the request that `more` describes. */
  async decides(
    node: string,
    pod: Partial<PendingPod> = {},
    more: object = {},
    at = now,
  ): Promise<GateDecision> {
    const { uid = 'u1' } = pod;
    const known = this.#waiting.get(uid) ?? pending(pod);
    const object = { metadata: { name: uid, namespace: 'shop', uid }, target: { kind: 'Node', name: node } };
    const view = gateView({ ...this, pods: { pod: () => known } });
    const { decision } = await gate(
      decodePlacement(binding(node, { name: uid, object, ...more })),
      view,
      this.policy,
      at,
    );
    return decision;
  }

  async says(node: string, pod: Partial<PendingPod> = {}, more: object = {}, at = now): Promise<string> {
    const { outcome, reason } = await this.decides(node, pod, more, at);
    return `${outcome} ${reason}`;
  }
}
