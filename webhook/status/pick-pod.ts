import { exemption } from '../admission/exempt.ts';
import type { Pod } from '../admission/pod.ts';
import { readStatus } from '../admission/status.ts';
import type { Policy } from '../config/policy.ts';
import { type ApiPendingPod, pickPending, waitsBy } from '../gate/pending.ts';
import { refusedFor } from '../gate/refusal.ts';
import { optOutValue, profileLabel } from '../names.ts';
import { own } from '../own.ts';
import type { PodFacts } from './facts.ts';
import { type RunningStatus, unproved } from './proof.ts';

/** The parts of a pod that {@link pickPod} reads, as the API gives them. */
export type ApiStatusPod = Pod &
  ApiPendingPod & {
    spec: { nodeName?: string };
    status?: RunningStatus & { nominatedNodeName?: string };
  };

/** What decides who is left alone. */
export interface Exempting {
  policy: Policy;
  /** The namespace that cni-gate runs in. */
  ownNamespace: string;
}

/** What status keeps of a pod in a namespace that opted in: very little of most, as there may be many. */
export function pickPod(pod: ApiStatusPod, exempting: Exempting): PodFacts {
  const { namespace = '', name } = pod.metadata;
  const refused = refusedFor(waitsBy(pod)?.message ?? '');
  const held = refused !== undefined && {
    refused: refused.node,
    why: refused.why,
    since: pickPending(pod).heldSince,
    nominated: pod.status?.nominatedNodeName ?? '',
  };
  const without = isLeftAlone(pod, exempting) ? undefined : unproved(pod, pod.status ?? {});
  const profile = readStatus(pod)?.chosenBy === 'pod' && own(pod.metadata.labels, profileLabel);
  return {
    namespace,
    name,
    ...(pod.spec.nodeName && { node: pod.spec.nodeName }),
    ...(profile && { profile }),
    ...(held && { held }),
    ...(without && { unproved: without }),
  };
}

/** Whether admission would have left the pod alone, or the pod itself asked for that and may. */
function isLeftAlone(pod: ApiStatusPod, { policy, ownNamespace }: Exempting): boolean {
  const { namespace = '', name } = pod.metadata;
  const request = { uid: '', namespace, name, operation: 'CREATE', subResource: '', dryRun: false, pod };
  const optedOut = own(pod.metadata.labels, profileLabel) === optOutValue && policy.proof.allowOptOut;
  return optedOut || exemption(request, policy.daemonSets, ownNamespace) !== undefined;
}
