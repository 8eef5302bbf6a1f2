import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { type Event, fitNote, podReference } from '../../cluster/events/event.ts';
import type { Controller, PodEvidence } from '../../core/facts/pod-evidence.ts';
import { eventActions, eventReasons, nameOf } from '../../lib/names.ts';
import type { LeaderDeps } from '../controller.ts';
import { type Recreation, type Skipped, type SkipReason, skipTexts } from './decide.ts';

/** Slots of the event queue that are kept free for other events. */
const reserve = 100;

/** How long, in milliseconds, a pod must be skipped before an event reports it. Most nodes boot faster. */
const long = 45_000;

/**
 * Milliseconds. A pod that ended longer ago gets no event: pods of finished Jobs stay for days, and each new leader
 * would report them again.
 */
const recent = 600_000;

/** Reports decisions of repair in the log, and in events on pods and their workloads. */
export function reporter(client: ApiClient, { events, log }: Pick<LeaderDeps<unknown>, 'events' | 'log'>) {
  /** Since when a pod has been skipped, and the latest reason; by UID. */
  const known = new Map<string, { since: number; reason: SkipReason }>();

  /** Adds the event to the pod, and to its workload, because the workload outlives the pod. */
  const add = async (event: Event, { controller, namespace }: PodEvidence): Promise<void> => {
    if (!events.add(event)) return;
    if (controller === undefined) return;
    events.add(onWorkload(await workloadOf(client, namespace, controller), event, Date.now()));
  };

  return {
    reasons: (): SkipReason[] => Array.from(known.values(), ({ reason }) => reason),

    recreated: async (recreation: Recreation, action: RepairAction): Promise<void> => {
      const { pod, how, why } = recreation;
      const { node, controller } = pod;
      const name = nameOf(pod);
      const isDone = action === 'recreated' ? 'is' : 'would be';
      log.info(
        { pod: name, node, owner: controller?.name, how, why },
        `pod ${name}, whose ${pod.unready ? 'network is lost' : 'proof failed'} on node ${node}, ${isDone} recreated: ${why}`,
      );
      known.delete(pod.uid);
      await add(podEvent(recreation, action), pod);
    },

    skipped: async (pod: PodEvidence, skipped: Skipped): Promise<void> => {
      const { reason } = skipped;
      const now = Date.now();
      const { since } = known.get(pod.uid) ?? { since: now };
      known.set(pod.uid, { since, reason });
      // for `unready`, the event NetworkLost already reports the pod
      if (reason === 'leaving' || reason === 'unready' || events.capacity < reserve) return;
      if (pod.ended && now - (pod.at ?? pod.createdAt) > recent) return;
      if (isReportedAtOnce(reason) || now - since >= long) await add(skippedPodEvent(pod, skipped), pod);
    },

    forget: (uid: string): void => void known.delete(uid),
  };
}

/** The Deployment of a ReplicaSet; for all other controllers, the controller itself. Never throws. */
async function workloadOf(client: ApiClient, namespace: string, controller: Controller): Promise<Controller> {
  const { apiVersion, kind, name, uid } = controller;
  if (apiVersion !== 'apps/v1' || kind !== 'ReplicaSet') return controller;
  const path = apiPath`/apis/apps/v1/namespaces/${namespace}/replicasets/${name}`;
  const replicaSet = await client.get<Owned>(path, { timeout: 5000 }).catch(() => undefined);
  const { uid: found, ownerReferences } = replicaSet?.metadata ?? {};
  const above = ownerReferences?.find((owner) => owner.controller === true);
  // the API server does not check owner references, so a ReplicaSet of this name may have another UID
  return found === uid && above !== undefined ? above : controller;
}

interface Owned {
  metadata?: { uid: string; ownerReferences?: (Controller & { controller?: boolean })[] | null };
}

type RepairAction = 'recreated' | 'wouldRecreate';

const texts = {
  recreated: { action: 'Recreate', what: 'is deleted to be recreated' },
  wouldRecreate: {
    action: 'Audit',
    what: 'would be deleted to be recreated, but repair only reports (repair.mode is audit, or proof.mode warn)',
  },
} as const;

const faultOf = ({ name, node, unready }: PodEvidence): string =>
  unready === undefined
    ? `the proof of the network of pod ${name} on node ${node} failed`
    : `the network of pod ${name} on node ${node} is lost`;

const podEvent = ({ pod, why }: Recreation, action: RepairAction): Event => ({
  regarding: podReference(pod),
  type: 'Normal',
  reason: eventReasons[action],
  action: texts[action].action,
  occasion: action.toLowerCase(),
  node: pod.node,
  note: fitNote(`${faultOf(pod)}, so it ${texts[action].what}: ${why}`),
});

/** Makes the event about a pod an event about its workload, at most once per minute. */
const onWorkload = ({ apiVersion, kind, name, uid }: Controller, event: Event, now: number): Event => ({
  ...event,
  regarding: { apiVersion, kind, namespace: event.regarding.namespace, name, uid },
  occasion: `${event.occasion}.${Math.floor(now / 60_000)}`,
});

/** Whether the reason is reported immediately: it lasts for minutes, or as long as the pod. */
const isReportedAtOnce = (reason: SkipReason): boolean =>
  ['ended', 'warn-mode', 'no-controller', 'unknown-controller', 'breaker'].includes(reason);

function skippedPodEvent(pod: PodEvidence, { reason, why = '' }: Skipped): Event {
  const more = why === '' ? '' : ` (${why})`;
  const isOfNode = reason === 'node-unreachable' || reason === 'node-not-ready';
  return {
    regarding: podReference(pod),
    type: 'Warning',
    reason: eventReasons.notRecreated,
    action: reason === 'breaker' ? eventActions.stop : eventActions.leave,
    occasion: reason,
    node: pod.node,
    note: fitNote(
      `${faultOf(pod)}, and the pod is not recreated: ${skipTexts[reason]}${more}`,
      isOfNode ? '. It is recreated when a node is ready' : '',
    ),
  };
}
