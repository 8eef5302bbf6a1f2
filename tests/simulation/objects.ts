import { env } from '../../validator/shared/contract.ts';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { timeText } from '../../webhook/lib/time-text.ts';
import type { Stored } from './api.ts';
import { start } from './clock.ts';

/** A node with its agent, the pod of the network's DaemonSet. Times are milliseconds since the epoch. */
export class Node {
  name = '';
  /** Whether the CNI plugin works. A sandbox that is created while the plugin does not work stays broken. */
  works = true;
  /** By how many milliseconds the node's clock is ahead. */
  ahead = 0;
  /** Whether the CPU is so busy that a proof that has failed once cannot run its checks again (exit code 69). */
  busy = false;
  /** Whether the kubelet runs, and the number of the current boot. */
  isUp = true;
  boot = 1;
  /** Whether the agent is Ready, and when its container started, by the node's clock. */
  ready = true;
  agentStarted = start - 3_600_000;
}

/** A controller of pods: a ReplicaSet or a StatefulSet. */
export class Owner {
  name = '';
  replicas = 1;
  kind: 'ReplicaSet' | 'StatefulSet' = 'ReplicaSet';
  namespace = 'shop';
  /** Whether the controller's pods can pass a proof at all. */
  passes = true;
  /** Whether the init container keeps running as a sidecar after the proof has passed. */
  witness = false;
  /** How long the scheduler waits for volumes before it binds a pod, in milliseconds. */
  volumes = 0;
}

export class Pod {
  name = '';
  uid = '';
  owner = new Owner();
  createdAt = Date.now();
  /** Whether the pod replaces a pod that repair deleted. */
  repaired = false;
  version = '';
  node: Node | undefined;
  boundAt = 0;
  /** When the scheduler first failed to bind the pod, and the current reason; undefined if the pod does not wait. */
  waits: { since: number; message: string } | undefined;
  nominated = '';
  leaving = false;
  gone = false;
  /** The result of the proof in the current sandbox, and when the sandbox was created, by the node's clock. */
  verdict: 'passed' | 'failed' | undefined;
  sandboxAt: number | undefined;
  /** The status of our init container, without its name. */
  proof: object = {};
}

const object = (kind: string, name: string, namespace: string | undefined, more: object = {}): Stored => ({
  ...{ kind, spec: {}, ...more },
  metadata: {
    ...{ name, uid: `uid-${name}`, creationTimestamp: timeText(start - 3_600_000) },
    ...(namespace !== undefined && { namespace }),
    ...('metadata' in more && (more.metadata as object)),
  },
});

const condition = (type: string, is: boolean, since: number, message = '') => ({
  ...{ type, status: is ? 'True' : 'False', lastTransitionTime: timeText(since), message },
});

/** The network's DaemonSet. */
export const daemonSet = object('DaemonSet', 'agent', 'net', {
  spec: { selector: { matchLabels: { app: 'agent' } }, template: { spec: {} } },
});

/** A node and its agent as objects of the API. */
export function nodeObjects({ name, boot, ready, agentStarted }: Node): Stored[] {
  const startedAt = timeText(agentStarted);
  const container = { name: 'cni', ready, containerID: startedAt, state: { running: { startedAt } } };
  const status = { nodeInfo: { bootID: `boot-${boot}` }, allocatable: { pods: '110' } };
  return [
    object('Node', name, undefined, { status }),
    object('Pod', `agent-${name}`, 'net', {
      metadata: { labels: { app: 'agent' }, ownerReferences: [{ uid: 'uid-agent', controller: true }] },
      spec: { nodeName: name },
      status: { conditions: [condition('Ready', ready, agentStarted)], containerStatuses: [container] },
    }),
  ];
}

export const ownerObject = ({ kind, name, namespace }: Owner): Stored => object(kind, name, namespace);

/** A pod as an object of the API. */
export function podObject(pod: Pod): Stored {
  const { name, uid, owner, node, waits, sandboxAt, nominated, leaving, verdict, proof } = pod;
  const { kind } = owner;
  const controller = {
    apiVersion: 'apps/v1',
    kind,
    name: owner.name,
    uid: `uid-${owner.name}`,
    controller: true,
  };
  const validator = { name: validatorContainer, env: [{ name: env.checks, value: '[{"profile":"mesh"}]' }] };
  const started = { name: 'web', state: { running: { startedAt: timeText(sandboxAt ?? 0) } } };
  const sandbox = condition('PodReadyToStartContainers', sandboxAt !== undefined, sandboxAt ?? Date.now());
  return object('Pod', name, owner.namespace, {
    metadata: {
      ...{ uid, creationTimestamp: timeText(pod.createdAt), labels: { [profileLabel]: 'mesh' } },
      ownerReferences: [controller],
      ...(leaving && { deletionTimestamp: timeText(pod.createdAt) }),
    },
    spec: {
      ...(node && { nodeName: node.name }),
      initContainers: [owner.witness ? { ...validator, restartPolicy: 'Always' } : validator],
    },
    status: {
      phase: verdict === 'passed' ? 'Running' : 'Pending',
      nominatedNodeName: nominated,
      conditions: [
        ...(waits ? [condition('PodScheduled', false, waits.since, waits.message)] : []),
        ...(node ? [sandbox] : []),
      ],
      ...(node && { initContainerStatuses: [{ name: validatorContainer, ...proof }] }),
      containerStatuses: verdict === 'passed' ? [started] : [],
    },
  });
}
