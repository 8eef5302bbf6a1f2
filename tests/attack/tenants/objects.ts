import { profileLabel } from '../../../webhook/lib/names.ts';
import { workload } from '../../cluster/harness/objects.ts';
import { requiring } from '../../support/affinity.ts';

/** The namespaces of the innocent pods, of a tenant that opted in, and of a tenant that did not. */
export const [innocent, optedIn, outside] = ['shop', 'tenant-in', 'tenant-out'] as const;
/** The network's DaemonSet, as the built-in profile `cilium` names it. */
export const network = { namespace: 'kube-system', name: 'cilium' } as const;
/** The node whose network is not ready, and the two nodes to which pods can be steered. */
export const [broken, spare, other] = ['broken', 'spare', 'other'] as const;

/** The annotation that makes kwok leave a pod alone, because these attacks need no pod that runs. */
const asItIs = { 'cni-gate.test/held': 'yes' };
const noScheduler = 'none';

export const podsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

interface PodParts {
  spec?: object;
  labels?: Record<string, string>;
}

/** A pod with small requests. It stays Pending after it is bound to a node. */
export const pod = (name: string, { spec = {}, labels = {} }: PodParts = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels, annotations: asItIs },
  spec: {
    containers: [{ name: 'web', image: 'example/web' }],
    // without this, the pod would wait until a controller has made its token
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    ...spec,
  },
});

/** A preference for some nodes, which the scheduler drops if it cannot be met. */
export const preferring = (...nodes: string[]): object => ({
  nodeAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 100, preference: { matchExpressions: [onHosts(nodes)] } },
    ],
  },
});

const onHosts = (values: string[]) => ({ key: 'kubernetes.io/hostname', operator: 'In', values });

/**
 * A node affinity that requires one node with `count` expressions. Every node matches all expressions but the last, so
 * a comparison in order has to go to the end. The keys differ between pods, so that no two pods have equal expressions.
 * The keys are short, because requirements of more than 16 KiB are not compared at all.
 */
export const inExpressions = (node: string, count: number, pod: number): object =>
  requiring({
    matchExpressions: [
      ...Array.from({ length: count - 1 }, (_, index) => ({
        key: `p${pod}-e${index}`,
        operator: 'DoesNotExist',
      })),
      onHosts([node]),
    ],
  });

/** A pod with our label and a volume whose claim has a name of this length. No scheduler handles the pod. */
export const withLongClaim = (name: string, characters: number): object =>
  pod(name, {
    labels: { [profileLabel]: 'cilium' },
    spec: {
      schedulerName: noScheduler,
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'x'.repeat(characters) } }],
    },
  });

export const largeOn = (node: string, name: string, bytes: number): object =>
  pod(name, {
    spec: {
      nodeName: node,
      containers: [{ name: 'web', image: 'example/web', env: [{ name: 'X', value: 'x'.repeat(bytes) }] }],
    },
  });

export function daemonSetWith(name: string, tolerations: number): object {
  return workload('DaemonSet', name, {
    spec: {
      nodeSelector: { 'tenant.example.com/no': 'node' },
      tolerations: Array(tolerations).fill({ key: 'a', operator: 'Exists' }),
      containers: [{ name: 'agent', image: 'example/agent' }],
    },
  });
}

/** The label of the nodes that the network's DaemonSet selects. All other nodes only enlarge the cluster. */
export const networkLabel = 'tenant.example.com/network';

export const networkDaemonSet: object = workload('DaemonSet', network.name, {
  namespace: network.namespace,
  spec: {
    hostNetwork: true,
    nodeSelector: { [networkLabel]: network.name },
    tolerations: [{ operator: 'Exists' }],
    containers: [{ name: 'cilium-agent', image: 'example/cilium' }],
  },
});
