import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { EvidenceMode } from '../../../webhook/core/profiles/types.ts';
import { profileLabel } from '../../../webhook/lib/names.ts';
import type { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';
import { namespace, pod, workload } from '../harness/objects.ts';
import { gateRegistration, registration } from '../harness/registration.ts';
import { type GateServer, startServer } from '../harness/server.ts';
import { serviceAt } from '../harness/service.ts';

const own = { namespace: 'cni-gate', name: 'cni-gate' };

/** The namespaces of the network's DaemonSets, of pods that opted in, and of pods that did not opt in. */
export const networkNamespace = 'net';
export const optedIn = 'shop';
export const bystander = 'plain';

export interface Pod {
  metadata: { name: string; uid: string; namespace: string };
  spec: { nodeName?: string; initContainers?: { name: string }[] };
  status: {
    phase: string;
    conditions?: { type: string; status: string; message?: string; reason?: string }[];
  };
}

/** A configuration with one profile, which has the given DaemonSets and only the check `address`. */
export const configuration = (
  daemonSets: string[],
  steer: Steer = 'nominate',
  evidence: EvidenceMode = 'ready',
  maxHold = '10m',
): string => `apiVersion: cni-gate.io/v1alpha1
kind: Configuration
gate: {startupGrace: 2m, maxHold: ${maxHold}, evidence: ${evidence}}
steer: {mode: ${steer}}
profiles:
  - name: mesh
    daemonSets: [${daemonSets.map((name) => `{namespace: ${networkNamespace}, name: ${name}}`).join(', ')}]
    proof: {checks: [{address: {timeout: 5s}}]}
`;

type Steer = 'nominate' | 'off';

export interface Scene {
  server: GateServer;
  leader: GateServer | undefined;
  /** Sets the DaemonSets of the profile, and waits until every replica has loaded the configuration. */
  configure(...settings: Parameters<typeof configuration>): Promise<void>;
}

export interface SceneOptions {
  host?: string;
  /** A kubeconfig that reaches the API server by another route, such as a proxy. */
  kubeconfig?: string;
  leader?: string;
}

/** Registers cni-gate's webhooks, and runs cni-gate as an administrator until the tests of the file end. */
export async function sceneIn(
  cluster: Cluster,
  { host = '10.254.3.1', kubeconfig = cluster.admin.kubeconfig, leader: leading }: SceneOptions = {},
): Promise<Scene> {
  const authorityFile = join(cluster.folder, 'webhook-authority.pem');
  const configFile = join(cluster.folder, 'cni-gate.yaml');
  writeFileSync(configFile, configuration(['agent'], 'nominate'));
  await cluster.apply(
    namespace(own.namespace),
    namespace(networkNamespace),
    namespace(optedIn, { [profileLabel]: 'mesh' }),
    namespace(bystander),
  );
  const replica = (at: string, ...more: string[]): Promise<GateServer> => {
    const files = ['--kubeconfig', kubeconfig, '--config', configFile];
    return startServer({ host: at, args: [...files, '--own-namespace', own.namespace, ...more] });
  };
  const leader = leading === undefined ? undefined : await replica(leading);
  if (leader !== undefined) await logged(leader, 'this replica leads');
  const server = await replica(host, '--tls-ca-out', authorityFile);
  const authority = readFileSync(authorityFile);
  await cluster.apply(
    ...serviceAt(own.namespace, own.name, [server]),
    registration(own, authority),
    gateRegistration(own, authority),
  );
  const replicas = leader === undefined ? [server] : [server, leader];
  after(() => Promise.all(replicas.map((one) => one.end())));
  return {
    server,
    leader,
    configure: async (...settings) => {
      const before = replicas.map(({ lines }) => lines.length);
      writeFileSync(configFile, configuration(...settings));
      await Promise.all(replicas.map((one, index) => logged(one, 'reloaded', before[index])));
    },
  };
}

export const manifest = (name: string): string =>
  fileURLToPath(new URL(`../../../manifests/base/${name}.yaml`, import.meta.url));

async function logged({ lines }: GateServer, message: string, from = 0): Promise<void> {
  await eventually(async () => {
    const found = lines.slice(from).some(({ msg }) => msg === message);
    if (!found) throw new Error(`not logged: ${message}`);
  });
}

/** A DaemonSet of the network. Its pods use the host network, and run on every node that its selector matches. */
export function daemonSet(name: string, template: object = {}): object {
  const spec = {
    hostNetwork: true,
    tolerations: [{ operator: 'Exists' }],
    containers: [{ name: 'install-cni', image: 'example/agent' }],
    ...template,
  };
  return workload('DaemonSet', name, { namespace: networkNamespace, spec });
}

export function podOn(
  name: string,
  more: { namespace?: string; spec?: object; labels?: object } = {},
): object {
  return pod(name, more.spec, { namespace: more.namespace ?? optedIn, labels: more.labels ?? {} });
}

/** A node selector that only the given node matches. */
export const onNode = (name: string): object => ({ nodeSelector: { 'kubernetes.io/hostname': name } });
