/** The objects of a cluster with many nodes, as large as those that kubelets and controllers write. */
import { env as variables } from '../../../validator/shared/contract.ts';
import { profileLabel, statusAnnotation, validatorContainer } from '../../../webhook/lib/names.ts';
import { apiAgent, apiDaemonSet } from '../../unit/core/networks/objects.ts';

export const daemonSets = [
  { namespace: 'kube-system', name: 'cilium' },
  { namespace: 'linkerd-cni', name: 'linkerd-cni' },
  { namespace: 'istio-system', name: 'istio-cni-node' },
];

const time = '2026-01-01T00:00:00Z';

/** A hexadecimal text that is different for each number, for example as a part of a UID. */
const hex = (value: number, length: number): string => value.toString(16).padStart(length, '0');

const uid = (kind: number, index: number): string => `${hex(index, 8)}-0000-4000-8000-${hex(kind, 12)}`;

/** The number of images that a kubelet reports by default (`nodeStatusMaxImages`). */
const images = Array.from({ length: 50 }, (_, index) => ({
  names: [
    `registry.example/team-${index}/service-${index}@sha256:${hex(index, 64)}`,
    `registry.example/team-${index}/service-${index}:v1.${index}.0`,
  ],
  sizeBytes: 100_000_000 + index,
}));

const nodeName = (index: number): string =>
  `ip-10-${index >> 14}-${(index >> 7) & 127}-${index & 127}.example`;

const condition = (type: string, status: string): object => ({
  type,
  status,
  lastHeartbeatTime: time,
  lastTransitionTime: time,
  reason: `Kubelet${type}`,
  message: `kubelet reports ${type} as it is after its last look at the machine`,
});

/** A Node of about 12 KB. */
export function node(index: number): object {
  const name = nodeName(index);
  const amounts = { cpu: '15890m', 'ephemeral-storage': '95551679124', memory: '61524092Ki', pods: '110' };
  return {
    metadata: {
      name,
      uid: uid(0, index),
      resourceVersion: String(1_000_000 + index),
      creationTimestamp: time,
      labels: {
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/instance-type': 'm5.4xlarge',
        'beta.kubernetes.io/os': 'linux',
        'failure-domain.beta.kubernetes.io/region': 'region-1',
        'failure-domain.beta.kubernetes.io/zone': `region-1${'abc'[index % 3]}`,
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'node.kubernetes.io/instance-type': 'm5.4xlarge',
        'topology.kubernetes.io/region': 'region-1',
        'topology.kubernetes.io/zone': `region-1${'abc'[index % 3]}`,
      },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: { podCIDR: `10.${index & 255}.0.0/24`, providerID: `example:///${name}` },
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: [
        ...['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => condition(type, 'False')),
        condition('Ready', 'True'),
      ],
      nodeInfo: { bootID: uid(9, index), machineID: hex(index, 32), kubeletVersion: 'v1.36.3' },
      images,
    },
  };
}

export const daemonSet = (which: number): object => {
  const { namespace, name } = daemonSets[which] ?? { namespace: '', name: '' };
  const template = { hostNetwork: true, tolerations: [{ operator: 'Exists' }] };
  const { metadata, spec } = apiDaemonSet(name, template);
  return {
    metadata: { ...metadata, namespace },
    spec: { ...spec, selector: { matchLabels: { app: name } } },
  };
};

const env = Array.from({ length: 30 }, (_, index) => ({ name: `SETTING_${index}`, value: 'x'.repeat(40) }));
const volumeMounts = Array.from({ length: 8 }, (_, index) => ({
  name: `host-${index}`,
  mountPath: `/var/lib/network/folder-${index}`,
}));

/** A DaemonSet's pod of about 4 KB. @param which the DaemonSet's index @param index the node's index */
export function agent(which: number, index: number): object {
  const { namespace, name } = daemonSets[which] ?? { namespace: '', name: '' };
  const containerID = `containerd://${hex(which, 2)}${hex(index, 62)}`;
  const { metadata, spec, status } = apiAgent(nodeName(index), {
    name: `${name}-${hex(index, 5)}`,
    uid: uid(which + 11, index),
    owner: name,
    version: 2_000_000 + index,
    containers: [containerID],
  });
  const imageID = `registry.example/agent@sha256:${hex(index, 64)}`;
  const containerStatuses = (status?.containerStatuses ?? []).map((container) => ({
    ...container,
    ...{ image: 'example', imageID, restartCount: 0, state: { running: { startedAt: time } } },
  }));
  return {
    metadata: { ...metadata, namespace, labels: { app: name } },
    spec: { ...spec, hostNetwork: true, containers: [{ name, image: 'example', env, volumeMounts }] },
    status: { ...status, startTime: time, containerStatuses },
  };
}

const profiles = ['cilium', 'linkerd', 'istio'];

export const namespaceOf = (index: number): string => `team-${index % 10}`;

export const namespaces = {
  size: 10,
  at: (index: number): object => ({
    metadata: {
      name: namespaceOf(index),
      uid: uid(21, index),
      resourceVersion: '1',
      creationTimestamp: time,
      labels: { [profileLabel]: profiles.join('.') },
    },
  }),
};

export const unscheduled = 100;

/** A pod that waits for a node. @param sets how many of the profiles apply to the pod */
export function waiting(index: number, sets: number): object {
  const promised = profiles.slice(0, sets);
  const checks = promised.map((profile) => ({ profile, address: { timeout: '10s' } }));
  return {
    metadata: {
      name: `web-${hex(index, 6)}`,
      namespace: namespaceOf(index),
      uid: uid(31, index),
      resourceVersion: String(3_000_000 + index),
      creationTimestamp: time,
      labels: { app: 'web', [profileLabel]: promised.join('.') },
      annotations: { [statusAnnotation]: JSON.stringify({ profiles: promised }) },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: uid(32, 0), controller: true },
      ],
    },
    spec: {
      initContainers: [
        { name: validatorContainer, env: [{ name: variables.checks, value: JSON.stringify(checks) }] },
      ],
      containers: [{ name: 'web', image: 'example', env, volumeMounts }],
    },
  };
}
