import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { profileLabel } from '../../../webhook/names.ts';
import type { Cluster } from '../../cluster/harness/cluster.ts';
import { type GateServer, startServer } from '../../cluster/harness/server.ts';
import { serviceAt } from '../../cluster/harness/service.ts';

const own = { namespace: 'cni-gate', name: 'cni-gate' };

/** Runs `cni-gate serve` beside the node, and registers it: from now on pods that opted in are refused without it. */
export async function startGate(cluster: Cluster): Promise<GateServer> {
  const authority = join(cluster.folder, 'webhook-authority.pem');
  const server = await startServer({
    host: '10.254.1.1',
    args: ['--profile', 'linkerd', '--tls-ca-out', authority],
  });
  await cluster.kubectl(['apply', '-f', '-'], {
    input: [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: own.namespace } },
      ...serviceAt(own.namespace, own.name, [server]),
      registration(readFileSync(authority)),
    ],
  });
  return server;
}

function registration(authority: Buffer): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: own.name },
    webhooks: [
      {
        name: 'pods.cni-gate.io',
        clientConfig: {
          service: { ...own, path: '/mutate', port: 443 },
          caBundle: authority.toString('base64'),
        },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        namespaceSelector: { matchExpressions: [{ key: profileLabel, operator: 'Exists' }] },
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        reinvocationPolicy: 'IfNeeded',
      },
    ],
  };
}
