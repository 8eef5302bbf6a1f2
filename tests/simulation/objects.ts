import { env } from '../../validator/shared/contract.ts';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { timeText } from '../../webhook/lib/time-text.ts';
import type { Stored } from './api.ts';
import { start } from './clock.ts';

/** A node with the pod of the network's DaemonSet, its agent. Times are milliseconds since the epoch. */
export class Node {
  name = '';
  /** Whether the plugin works. A sandbox that is made without it stays broken. */
  works = true;
  /** How far the node's clock is ahead, in milliseconds. */
  ahead = 0;
  /** Whether the processor is so busy that a second run of a proof finds out nothing (exit code 69). */
  busy = false;
  /** How many pods it takes. */
  room = 110;
  /** Whether the kubelet runs, and in which boot. */
  isUp = true;
  boot = 1;
  /** Whether the agent is Ready, and when its container started, by the node's clock. */
  ready = true;
  agentStarted = start - 3_600_000;
}

/** A controller of pods. */
export class Owner {
  name = '';
  replicas = 1;
  kind: 'ReplicaSet' | 'StatefulSet' = 'ReplicaSet';
  namespace = 'shop';
  /** Whether its pods can pass a proof at all. */
  passes = true;
  /** Whether the proof goes on as a sidecar once it has passed. */
  witness = false;
  /** How long the scheduler waits for volumes before it binds a pod, in milliseconds. */
  volumes = 0;
}

export class Pod {
  name = '';
  uid = '';
  owner = new Owner();
  createdAt = Date.now();
  /** Whether repair deleted a pod for it. */
  repaired = false;
  version = '';
  node: Node | undefined;
  boundAt = 0;
  /** Since when the scheduler cannot bind it, and why it cannot now. */
  waits: { since: number; message: string } | undefined;
  nominated = '';
  leaving = false;
  gone = false;
  /** What its proof found in the current sandbox, and when that was made, by the node's clock. */
  verdict: 'passed' | 'failed' | undefined;
  sandboxAt: number | undefined;
  /** The status of our init container. */
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

/** The DaemonSet of the network. */
export const daemonSet = object('DaemonSet', 'agent', 'net', {
  spec: { selector: { matchLabels: { app: 'agent' } }, template: { spec: {} } },
});

/** A node and its agent, as the API shows them. */
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

/** A pod as the API shows it. */
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
