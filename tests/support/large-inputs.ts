const env = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `SETTING_${index}`,
    value: `value of setting ${index}`,
  }));

const probe = (path: string): object => ({
  failureThreshold: 3,
  httpGet: { path, port: 8080, scheme: 'HTTP' },
  periodSeconds: 10,
  successThreshold: 1,
  timeoutSeconds: 1,
});

const condition = (type: string): object => ({
  lastTransitionTime: '2026-11-02T08:15:30Z',
  lastUpdateTime: '2026-11-02T08:15:30Z',
  message: `ReplicaSet "NAME-7d9c5b8f6" says of ${type} what a controller has to say`,
  reason: 'NewReplicaSetAvailable',
  status: 'True',
  type,
});

const container = (name: string): object => ({
  args: ['--listen=:8080', '--log-format=json', `--name=${name}`],
  env: env(22),
  image: `registry.example/shop/${name}@sha256:${'0123456789abcdef'.repeat(4)}`,
  imagePullPolicy: 'IfNotPresent',
  livenessProbe: probe('/livez'),
  name,
  ports: [{ containerPort: 8080, name: 'http', protocol: 'TCP' }],
  readinessProbe: probe('/readyz'),
  resources: { limits: { memory: '256Mi' }, requests: { cpu: '100m', memory: '256Mi' } },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  volumeMounts: [{ mountPath: '/etc/settings', name: 'settings', readOnly: true }],
});

/** A Deployment as an API server returns it, about 7,000 characters of YAML; NAME stands for its name. */
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    annotations: { 'deployment.kubernetes.io/revision': '7', 'example.com/owner': 'shop' },
    creationTimestamp: '2026-03-01T12:00:00Z',
    generation: 9,
    labels: { 'app.kubernetes.io/name': 'NAME', 'app.kubernetes.io/part-of': 'shop' },
    name: 'NAME',
    namespace: 'shop',
    resourceVersion: '48151623',
    uid: '6f0d2f0e-7a76-4a39-9a3e-0b1c5d0e7f42',
  },
  spec: {
    progressDeadlineSeconds: 600,
    replicas: 3,
    revisionHistoryLimit: 10,
    selector: { matchLabels: { 'app.kubernetes.io/name': 'NAME' } },
    strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' }, type: 'RollingUpdate' },
    template: {
      metadata: { creationTimestamp: null, labels: { 'app.kubernetes.io/name': 'NAME' } },
      spec: {
        containers: [container('app'), container('sidecar')],
        dnsPolicy: 'ClusterFirst',
        restartPolicy: 'Always',
        schedulerName: 'default-scheduler',
        securityContext: {},
        terminationGracePeriodSeconds: 30,
        volumes: [{ configMap: { defaultMode: 420, name: 'settings' }, name: 'settings' }],
      },
    },
  },
  status: {
    availableReplicas: 3,
    conditions: [condition('Available'), condition('Progressing')],
    observedGeneration: 9,
    readyReplicas: 3,
    replicas: 3,
    updatedReplicas: 3,
  },
};

const named = (text: string, index: number): string => text.replaceAll('NAME', `web-${index}`);

const texts = (count: number, text: string): string[] =>
  Array.from({ length: count }, (_, index) => named(text, index));

/** A List of Deployments as `kubectl get --all-namespaces --output json` prints it. */
export function jsonListOfDeployments(count: number): string {
  const lines = JSON.stringify(deployment, null, 4).split('\n');
  const items = texts(count, `        ${lines.join('\n        ')}`).join(',\n');
  return `{\n    "apiVersion": "v1",\n    "items": [\n${items}\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n`;
}
