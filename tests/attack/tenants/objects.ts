import { profileLabel } from '../../../webhook/lib/names.ts';
import { workload } from '../../cluster/harness/objects.ts';
import { requiring } from '../../support/affinity.ts';

/** The namespace whose pods are the innocent ones, one of a tenant that opted in, and one of a tenant that did not. */
export const [innocent, optedIn, outside] = ['shop', 'tenant-in', 'tenant-out'] as const;
/** Where the network's DaemonSet is, by the built-in profile `cilium`. */
export const network = { namespace: 'kube-system', name: 'cilium' } as const;
/** The node whose network is not ready, the one that everything can be sent to, and another one. */
export const [broken, spare, other] = ['broken', 'spare', 'other'] as const;

/** What makes kwok leave a pod as it is: nothing of these attacks needs a pod that runs. */
const asItIs = { 'cni-gate.test/held': 'yes' };
const noScheduler = 'none';

export const podsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

interface PodParts {
  spec?: object;
  labels?: Record<string, string>;
}

/** A pod that asks for little, and is left Pending once it has a node. */
export const pod = (name: string, { spec = {}, labels = {} }: PodParts = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels, annotations: asItIs },
  spec: {
    containers: [{ name: 'web', image: 'example/web' }],
    // not to wait for a token of its own
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

export const only = (...nodes: string[]): object => required([onHosts(nodes)]);

const onHosts = (values: string[]): Expression => ({ key: 'kubernetes.io/hostname', operator: 'In', values });

interface Expression {
  key: string;
  operator: string;
  values?: string[];
}

const required = (matchExpressions: Expression[]): object => requiring({ matchExpressions });

/**
 * A preference for one node in that many expressions. Every node meets all of them but the last, so that whoever compares
 * them in order does so to the end. Each pod's are its own, so that no two of them ask for the same; and short, as what
 * a pod asks for in more than 16 KiB is not compared at all.
 */
export const inExpressions = (node: string, count: number, pod: number): object =>
  required([
    ...Array.from({ length: count - 1 }, (_, index) => ({
      key: `p${pod}-e${index}`,
      operator: 'DoesNotExist',
    })),
    onHosts([node]),
  ]);

/** A pod with our label and a volume whose claim has a name of that many characters. No scheduler handles it. */
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

/** Label of the nodes that the network's DaemonSet wants: the others are only there to be compared with. */
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
