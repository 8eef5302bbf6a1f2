import { env } from '../../validator/shared/contract.ts';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { timeText } from '../../webhook/lib/time-text.ts';
import type { Stored } from './api.ts';
import { start } from './clock.ts';

/** A node with the pod of the network's DaemonSet, its agent. */
export class Node {
  readonly name: string;
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

  constructor(name: string, more: Partial<Node>) {
    this.name = name;
    Object.assign(this, more);
  }

  objects(): Stored[] {
    const { name, boot, ready } = this;
    const startedAt = timeText(this.agentStarted);
    const container = {
      name: 'cni',
      ready,
      containerID: `${name}-${startedAt}`,
      state: { running: { startedAt } },
    };
    return [
      {
        kind: 'Node',
        metadata: metadataOf(name),
        spec: {},
        status: { nodeInfo: { bootID: `boot-${boot}` }, allocatable: { pods: '110' } },
      },
      {
        kind: 'Pod',
        metadata: {
          ...metadataOf(`agent-${name}`, 'net'),
          labels: { app: 'agent' },
          ownerReferences: [{ uid: 'uid-agent', controller: true }],
        },
        spec: { nodeName: name },
        status: {
          phase: 'Running',
          conditions: [condition('Ready', ready, this.agentStarted)],
          containerStatuses: [container],
        },
      },
    ];
  }
}

/** The DaemonSet `net/agent`. */
export const daemonSet: Stored = {
  kind: 'DaemonSet',
  metadata: metadataOf('agent', 'net'),
  spec: { selector: { matchLabels: { app: 'agent' } }, template: { spec: {} } },
};

/** A controller of pods. */
export class Owner {
  readonly name: string;
  readonly replicas: number;
  kind: 'ReplicaSet' | 'StatefulSet' = 'ReplicaSet';
  namespace = 'shop';
  /** Whether its pods can pass a proof at all. */
  passes = true;
  /** Whether the proof goes on as a sidecar once it has passed. */
  witness = false;
  /** How long the scheduler waits for volumes before it binds a pod, in milliseconds. */
  volumes = 0;

  constructor(name: string, replicas: number, more: Partial<Owner>) {
    this.name = name;
    this.replicas = replicas;
    Object.assign(this, more);
  }

  object = (): Stored => ({ kind: this.kind, metadata: metadataOf(this.name, this.namespace), spec: {} });
}

/** A pod of an {@link Owner}. */
export class Pod {
  readonly name: string;
  readonly uid: string;
  readonly owner: Owner;
  /** Milliseconds since the epoch, as all times here. */
  readonly createdAt = Date.now();
  /** Whether repair deleted a pod for it. */
  readonly repaired: boolean;
  version = '';
  node: Node | undefined;
  boundAt = 0;
  /** Why the scheduler cannot bind it, and since when it cannot for any reason. */
  waits: { since: number; message: string } | undefined;
  nominated = '';
  leaving = false;
  gone = false;
  /** What its proof found in the current sandbox, which was made at that time of the node's clock. */
  verdict: 'passed' | 'failed' | undefined;
  sandboxAt: number | undefined;
  /** The status of our init container. */
  proof: object = {};

  constructor(name: string, uid: string, owner: Owner, repaired: boolean) {
    this.name = name;
    this.uid = uid;
    this.owner = owner;
    this.repaired = repaired;
  }

  object(): Stored {
    const { name, uid, owner, node, waits, sandboxAt, nominated, verdict } = this;
    const controller = {
      apiVersion: 'apps/v1',
      kind: owner.kind,
      name: owner.name,
      uid: `uid-${owner.name}`,
    };
    const container = {
      name: validatorContainer,
      env: [{ name: env.checks, value: '[{"profile":"mesh"}]' }],
    };
    const started = { state: { running: { startedAt: timeText(sandboxAt ?? 0) } } };
    return {
      kind: 'Pod',
      metadata: {
        ...{ name, uid, namespace: owner.namespace, creationTimestamp: timeText(this.createdAt) },
        labels: { [profileLabel]: 'mesh' },
        ownerReferences: [{ ...controller, controller: true }],
        ...(this.leaving && { deletionTimestamp: timeText(this.createdAt) }),
      },
      spec: {
        ...(node && { nodeName: node.name }),
        initContainers: [owner.witness ? { ...container, restartPolicy: 'Always' } : container],
      },
      status: {
        phase: verdict === 'passed' ? 'Running' : 'Pending',
        nominatedNodeName: nominated,
        conditions: [
          ...(waits ? [condition('PodScheduled', false, waits.since, waits.message)] : []),
          ...(node
            ? [condition('PodReadyToStartContainers', sandboxAt !== undefined, sandboxAt ?? Date.now())]
            : []),
        ],
        ...(node && { initContainerStatuses: [{ name: validatorContainer, ...this.proof }] }),
        ...(verdict === 'passed' && { containerStatuses: [{ name: 'web', ...started }] }),
      },
    };
  }
}

function metadataOf(name: string, namespace?: string): Stored['metadata'] {
  const known = { name, uid: `uid-${name}`, creationTimestamp: timeText(start - 3_600_000) };
  return namespace === undefined ? known : { ...known, namespace };
}

const condition = (type: string, is: boolean, since: number, message = '') => ({
  ...{ type, status: is ? 'True' : 'False', lastTransitionTime: timeText(since), message },
});
