import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { exitCode } from '../../validator/shared/contract.ts';
import { type CertificateFlags, certificateFor } from '../../webhook/commands/certificate.ts';
import { profileLabel } from '../../webhook/lib/names.ts';
import { watchCluster } from '../../webhook/server/watch-cluster.ts';
import { head } from '../support/configurations.ts';
import { recorded, reviewOf } from '../support/reviews.ts';
import { startServer, type TestServer } from '../support/running-server.ts';
import { startStoredCluster } from './stored-cluster.ts';

const anHourAgo = new Date(Date.now() - 3_600_000).toISOString();
const aMinuteAgo = new Date(Date.now() - 60_000).toISOString();
const checks = '{"profiles":[{"name":"cilium","address":true}]}';
const init = { name: 'cni-gate-validator', env: [{ name: 'CNI_GATE_CHECKS', value: checks }] };
const labels = { [profileLabel]: 'cilium' };

const node = (name: string): object => ({
  metadata: { name, uid: name, creationTimestamp: anHourAgo, labels: { 'kubernetes.io/os': 'linux' } },
  spec: {},
  status: {
    nodeInfo: { bootID: name },
    allocatable: { cpu: '8', memory: '32Gi', pods: '110' },
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: anHourAgo }],
  },
});

const agent = (nodeName: string, isReady: boolean): object => ({
  metadata: {
    namespace: 'kube-system',
    name: `cilium-${nodeName}`,
    creationTimestamp: anHourAgo,
    labels: { app: 'cilium' },
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'cilium', uid: 'cilium', controller: true },
    ],
  },
  spec: { nodeName },
  status: {
    phase: 'Running',
    startTime: anHourAgo,
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: anHourAgo }],
    containerStatuses: [{ name: 'agent', ready: isReady, containerID: 'containerd://1' }],
  },
});

/** A pod on n1 whose proof ended with this exit code. */
const ended = (name: string, code: number): object => ({
  metadata: {
    namespace: 'shop',
    name,
    creationTimestamp: anHourAgo,
    labels,
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: `set-${name}`,
        uid: `set-${name}`,
        controller: true,
      },
    ],
  },
  spec: { nodeName: 'n1', initContainers: [init], containers: [{ name: 'app' }] },
  status: {
    phase: code === 0 ? 'Running' : 'Pending',
    initContainerStatuses: [
      {
        name: init.name,
        state: { terminated: { exitCode: code, startedAt: aMinuteAgo, finishedAt: aMinuteAgo } },
      },
    ],
  },
});

/** The pod of `binding-deployment-web`, whose binding to n2 was refused. */
const held = {
  metadata: {
    namespace: 'shop',
    name: 'web-7fdb9d4559-n9l6t',
    uid: '392e5bb3-ef62-4623-8905-aac8b6b07170',
    creationTimestamp: anHourAgo,
    labels,
    annotations: { 'cni-gate.io/status': '{"profiles":["cilium"]}' },
  },
  spec: { containers: [{ name: 'app' }], initContainers: [init] },
  status: {
    phase: 'Pending',
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        lastTransitionTime: aMinuteAgo,
        message:
          'running Bind plugin "DefaultBinder": admission webhook "bindings.cni-gate.io" denied the request: ' +
          'node n2 is not ready for profile cilium: DaemonSet kube-system/cilium is broken there (CNI_GATE_NODE_NOT_READY node=n2 profile=cilium state=broken)',
      },
    ],
  },
};

const webhooks = [
  { name: 'x', clientConfig: { service: { namespace: 'cni-gate', name: 'cni-gate', path: '/x' } } },
];
const registered = '/apis/admissionregistration.k8s.io/v1';

const objects = {
  '/api/v1/namespaces': [{ metadata: { name: 'shop', labels } }],
  '/api/v1/nodes': [node('n1'), node('n2')],
  '/apis/apps/v1/namespaces/kube-system/daemonsets': [
    {
      metadata: { namespace: 'kube-system', name: 'cilium', uid: 'cilium', creationTimestamp: anHourAgo },
      spec: {
        selector: { matchLabels: { app: 'cilium' } },
        template: { spec: { tolerations: [{ operator: 'Exists' }] } },
      },
    },
  ],
  '/api/v1/namespaces/kube-system/pods': [agent('n1', true), agent('n2', false)],
  '/api/v1/namespaces/shop/pods': [held, ended('good', 0), ended('bad', exitCode.failed)],
  [`${registered}/mutatingwebhookconfigurations`]: [
    { metadata: { name: 'cni-gate', generation: 1 }, webhooks },
  ],
  [`${registered}/validatingwebhookconfigurations`]: [
    { metadata: { name: 'cni-gate', generation: 1 }, webhooks },
  ],
};

const configuration = (mode: string): string => `${head}repair: { mode: ${mode} }\n`;

export interface BusyServer extends TestServer {
  /** Sends what a cluster sends: reviews that are allowed, refused and skipped, and a call that is no review. */
  work(): Promise<void>;
}

/**
 * A server that leads in a cluster with a node that is not ready, a pod that is held and one whose proof failed. It
 * keeps its certificate in a Secret, and its configuration has changed once.
 *
 * @param folder for its configuration
 */
export async function startBusyServer(t: TestContext, folder: string): Promise<BusyServer> {
  const api = await startStoredCluster(t, objects);
  const config = join(folder, 'config.yaml');
  writeFileSync(config, configuration('audit'));
  const flags: CertificateFlags = {
    ownNamespace: 'cni-gate',
    tlsSecret: 'cni-gate-tls',
    tlsService: 'cni-gate',
    tlsAuthorityDays: 365,
    tlsOverlap: 300_000,
    webhookConfigurations: ['mutating/cni-gate', 'validating/cni-gate'],
  };
  const server = await startServer(t, {
    profile: undefined,
    config,
    cluster: (policy, deps) => watchCluster(api.client, policy, deps, 'cni-gate'),
    certificate: certificateFor(flags, api.client),
  });
  writeFileSync(config, configuration('recreate'));
  const wrong = {
    ...recorded('pod-deployment-web').request.object,
    metadata: { name: 'wrong', labels: { [profileLabel]: 'nowhere' } },
  };
  const label = (value: string): object => ({
    ...reviewOf({ metadata: { name: 'shop', labels: { [profileLabel]: value } } }),
  });
  return {
    ...server,
    work: async () => {
      const binding = recorded('binding-deployment-web');
      (binding.request.object as { target?: object }).target = { kind: 'Node', name: 'n2' };
      const calls: [path: string, body: object][] = [
        ['/mutate', recorded('pod-deployment-web')],
        ['/mutate', recorded('pod-host-networked')],
        ['/mutate', reviewOf(wrong)],
        ['/mutate', { kind: 'Nonsense' }],
        ['/gate', binding],
        ['/namespaces', label('cilium')],
      ];
      // whether the certificate is trusted is no matter here
      const unverified = { rejectUnauthorized: false };
      await Promise.all(
        calls.map(([path, body]) => server.post(`${path}?timeout=5s`, JSON.stringify(body), unverified)),
      );
    },
  };
}
