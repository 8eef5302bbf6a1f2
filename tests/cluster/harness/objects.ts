export const namespace = (name: string, labels: Record<string, string> = {}): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

export const pod = (name: string, spec: object = {}, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'web', image: 'example/web' }], ...spec },
});

/** The spec of a pod that complies with the Pod Security Standard `restricted`. */
export const restricted = {
  securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      name: 'web',
      image: 'example/web',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ],
};

export interface WorkloadParts {
  namespace?: string;
  replicas?: number;
  annotations?: Record<string, string>;
  spec?: object;
}

/** A workload of the given kind. Its pods have the label `app` with the workload's name. */
export function workload(
  kind: 'DaemonSet' | 'Deployment' | 'StatefulSet',
  name: string,
  { namespace: where, replicas, annotations, spec }: WorkloadParts = {},
): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { namespace: where, name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations },
        spec: spec ?? { containers: [{ name: 'web', image: 'example/web' }] },
      },
    },
  };
}

/** A PersistentVolume and a claim that are bound to each other. */
export function boundVolume(where: string, name: string): object[] {
  const accessModes = ['ReadWriteOnce'];
  return [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes,
        claimRef: { namespace: where, name },
        hostPath: { path: '/data' },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: where, name },
      spec: {
        accessModes,
        storageClassName: '',
        volumeName: name,
        resources: { requests: { storage: '1Gi' } },
      },
    },
  ];
}
