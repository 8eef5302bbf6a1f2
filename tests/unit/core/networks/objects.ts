/** The current time in tests. Objects of this file are an hour old unless a test sets other times. */
export const now = Date.parse('2026-11-21T12:00:00Z');
const anHourAgo = '2026-11-21T11:00:00Z';

export function apiNode(name: string, bootID: string, version: number, more: Partial<ApiNode> = {}): ApiNode {
  const metadata = { name, uid: `${name}-uid`, resourceVersion: `${version}`, creationTimestamp: anHourAgo };
  return {
    metadata: { ...metadata, ...more.metadata },
    spec: more.spec ?? {},
    status: { nodeInfo: { bootID } },
  };
}

export function apiDaemonSet(
  name: string,
  template: ApiDaemonSet['spec']['template']['spec'] = {},
): ApiDaemonSet {
  const metadata = {
    name,
    namespace: 'net',
    uid: `${name}-uid`,
    resourceVersion: '1',
    creationTimestamp: anHourAgo,
  };
  return { metadata, spec: { template: { spec: template } } };
}

export interface AgentOptions {
  name?: string;
  uid?: string;
  owner?: string;
  version?: number;
  ready?: boolean;
  containers?: string[];
  createdAt?: string;
  deleted?: boolean;
  phase?: string;
  waiting?: string;
}

export function apiAgent(nodeName: string, options: AgentOptions = {}): ApiPod {
  const { name = `agent-${nodeName}`, ready = true, containers = ['c1'], waiting } = options;
  return {
    metadata: {
      name,
      namespace: 'net',
      uid: options.uid ?? `${name}-uid`,
      resourceVersion: `${options.version ?? 2}`,
      creationTimestamp: options.createdAt ?? anHourAgo,
      ...(options.deleted && { deletionTimestamp: anHourAgo }),
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          name: 'agent',
          uid: `${options.owner ?? 'agent'}-uid`,
          controller: true,
        },
      ],
    },
    spec: { nodeName },
    status: {
      phase: options.phase ?? 'Running',
      conditions: [
        { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-11-21T11:30:00Z' },
      ],
      containerStatuses: containers.map((containerID) => ({
        name: 'install-cni',
        ready,
        containerID,
        ...(waiting && { state: { waiting: { reason: waiting } } }),
      })),
    },
  };
}

import type { ApiDaemonSet, ApiNode, ApiPod } from '../../../../webhook/core/facts/api.ts';
