import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { profileLabel } from '../../../webhook/names.ts';
import type { Cluster } from '../harness/cluster.ts';
import { gateRegistration, registration } from '../harness/registration.ts';
import { type GateServer, startServer } from '../harness/server.ts';
import { serviceAt } from '../harness/service.ts';

const own = { namespace: 'cni-gate', name: 'cni-gate' };

/** Namespaces: of cni-gate, of the network's DaemonSets, one that opted in, one that did not. */
export const networkNamespace = 'net';
export const optedIn = 'shop';
export const bystander = 'plain';

/** A pod as far as these tests read it. */
export interface Pod {
  metadata: { name: string; uid: string; namespace: string };
  spec: { nodeName?: string; initContainers?: { name: string }[] };
  status: {
    phase: string;
    conditions?: { type: string; status: string; message?: string; reason?: string }[];
  };
}

/** The profile of these tests: an address that the pod has, brought by one DaemonSet or two. */
export const configuration = (daemonSets: string[]): string => `apiVersion: cni-gate.io/v1alpha1
kind: Configuration
gate: {startupGrace: 2m, maxHold: 10m}
profiles:
  - name: mesh
    daemonSets: [${daemonSets.map((name) => `{namespace: ${networkNamespace}, name: ${name}}`).join(', ')}]
    proof: {checks: [{address: {timeout: 5s}}]}
`;

/** A cluster in which cni-gate is registered for pods and bindings. */
export interface Scene {
  server: GateServer;
  /** Names the DaemonSets of the profile, and waits until the server has taken it. */
  configure(daemonSets: string[]): Promise<void>;
}

/**
 * Starts cni-gate with the rights of an administrator, and registers it. Namespaces come with it.
 *
 * @param kubeconfig another way to the API server than the straight one
 */
export async function setTheScene(
  cluster: Cluster,
  host = '10.254.3.1',
  kubeconfig = cluster.admin.kubeconfig,
): Promise<Scene> {
  const authorityFile = join(cluster.folder, 'webhook-authority.pem');
  const configFile = join(cluster.folder, 'cni-gate.yaml');
  writeFileSync(configFile, configuration(['agent']));
  const namespace = (name: string, labels: Record<string, string> = {}): object => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  });
  const input = [
    namespace(own.namespace),
    namespace(networkNamespace),
    namespace(optedIn, { [profileLabel]: 'mesh' }),
  ];
  await cluster.kubectl(['apply', '-f', '-'], { input: [...input, namespace(bystander)] });
  const server = await startServer({
    host,
    args: [
      ...['--kubeconfig', kubeconfig, '--config', configFile],
      ...['--own-namespace', own.namespace, '--tls-ca-out', authorityFile],
    ],
  });
  const authority = readFileSync(authorityFile);
  await cluster.kubectl(['apply', '-f', '-'], {
    input: [
      ...serviceAt(own.namespace, own.name, [server]),
      registration(own, authority),
      gateRegistration(own, authority),
    ],
  });
  return {
    server,
    configure: async (daemonSets) => {
      const before = server.lines.length;
      writeFileSync(configFile, configuration(daemonSets));
      while (!server.lines.slice(before).some(({ msg }) => msg === 'reloaded')) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}

/** The network's DaemonSet: on the node's own network, and on every node that its selector wants. */
export function daemonSet(name: string, template: object = {}): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: networkNamespace, name },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          hostNetwork: true,
          tolerations: [{ operator: 'Exists' }],
          containers: [{ name: 'install-cni', image: 'example/agent' }],
          ...template,
        },
      },
    },
  };
}

/** A pod of a workload. */
export function podOn(
  name: string,
  more: { namespace?: string; spec?: object; labels?: object } = {},
): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: more.namespace ?? optedIn, name, labels: more.labels ?? {} },
    spec: { containers: [{ name: 'web', image: 'example/web' }], ...more.spec },
  };
}

/** A node selector for one node: what a pod is sent to and nowhere else. */
export const onNode = (name: string): object => ({ nodeSelector: { 'kubernetes.io/hostname': name } });
