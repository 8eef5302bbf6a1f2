import { nameCharacters } from '../lib/limits.ts';
import { type PromisedPod, promisedTo } from './promised.ts';
import { refusedNode } from './refusal.ts';

/** The parts of a pod that {@link toGatePod} reads, as the API gives them. */
export interface ApiGatePod extends PromisedPod {
  metadata: PromisedPod['metadata'] & {
    uid: string;
    resourceVersion: string;
    namespace?: string;
    name: string;
  };
  status?: {
    conditions?:
      | { type: string; status: string; message?: string; lastTransitionTime?: string | null }[]
      | null;
  };
}

/** What the gate knows of a pod that is to be bound. */
export interface GatePod {
  uid: string;
  namespace: string;
  name: string;
  /** The profiles that promise it something: {@link promisedTo}. */
  profiles: string[];
  /** Since when it waits with our refusal as the reason, milliseconds since the epoch; undefined where it does not. */
  heldSince: number | undefined;
  /** The node of that refusal. */
  refused: string | undefined;
}

/** The condition by which the scheduler tells why a pod waits; undefined where it does not wait. */
export function waitsBy({ status }: Pick<ApiGatePod, 'status'>) {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? scheduled : undefined;
}

/** What the gate keeps of a pod. */
export function toGatePod(pod: ApiGatePod): GatePod {
  const { uid, namespace = '', name } = pod.metadata;
  const scheduled = waitsBy(pod);
  const refused = nameOf(refusedNode(scheduled?.message ?? ''));
  const since = refused === undefined ? undefined : scheduled?.lastTransitionTime;
  return {
    uid,
    namespace,
    name,
    profiles: promisedTo(pod),
    heldSince: since === undefined || since === null ? undefined : Date.parse(since),
    refused,
  };
}

/** A name as it can be kept; undefined where it is none. A part of a long text would keep all of it in memory. */
const nameOf = (text: string | undefined): string | undefined =>
  text === undefined || text.length > nameCharacters ? undefined : structuredClone(text);
