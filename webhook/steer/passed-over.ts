import type { MisfitCounts } from './misfit.ts';

/**
 * Why a plan nominates no node for a pod that waits:
 * - `leaving`: the pod is being deleted;
 * - `too-large`: it asks for its node in so many words that they are not kept;
 * - `node-ready`: the node that it was refused for takes it by now, so its next try will do;
 * - `under-way`: a nomination of it is open, ours or somebody else's;
 * - `pause`: it, or its controller's pods, pause after a nomination that was ignored, or it was refused a moment ago;
 * - `volumes-unknown`, `usage-unknown`: what is known does not say where it can go; `nodes` would have to be asked about;
 * - `no-node`: no node does. `misfits` counts those that were looked at, the refused one among them.
 */
export type PassedOver =
  | { why: 'leaving' | 'too-large' | 'node-ready' | 'under-way' | 'pause' | 'volumes-unknown' }
  | { why: 'usage-unknown'; nodes: readonly string[] }
  | { why: 'no-node'; misfits: MisfitCounts };
