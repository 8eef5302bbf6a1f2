/** The webhooks that `create.ts` compares. They end with this process. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAuthority, issueServing } from '../../../certs/issue.ts';
import { profileLabel, statusAnnotation } from '../../../webhook/lib/names.ts';
import { mortal } from '../../support/mortal.ts';
import type { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';
import { startServer } from '../harness/server.ts';
import { serviceAt } from '../harness/service.ts';

const namespace = 'cni-gate';

/** A webhook behind a Service. */
export interface Caller {
  service: { namespace: string; name: string };
  /** Of its certificate, PEM. */
  authority: Buffer;
}

async function behindService(
  cluster: Cluster,
  name: string,
  address: { host: string; port: number },
  authority: Buffer,
): Promise<Caller> {
  await cluster.apply(...serviceAt(namespace, name, [address]));
  return { service: { namespace, name }, authority };
}

/** Starts `cni-gate serve` from the sources. @param checkout another one than this */
export async function startGate(
  cluster: Cluster,
  name: string,
  host: string,
  checkout?: string,
): Promise<Caller> {
  const authority = join(cluster.folder, `${name}.pem`);
  const server = await startServer({
    host,
    args: [
      ...['--kubeconfig', cluster.admin.kubeconfig, '--own-namespace', namespace],
      ...['--tls-names', `${name}.${namespace}.svc`, '--tls-ca-out', authority],
    ],
    checkout,
  });
  return await behindService(cluster, name, server, readFileSync(authority));
}

/** What of a pod is read that cni-gate changed. */
interface ChangedPod {
  metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
  spec: { initContainers?: object[] };
}

/**
 * Starts the webhook on controller-runtime (`tests/bench/peers`, built by `tests/bench/run.sh`).
 *
 * @param wanted a pod as cni-gate changed it: this webhook changes others in the same way
 */
export async function startPeer(
  cluster: Cluster,
  name: string,
  host: string,
  wanted: ChangedPod,
): Promise<Caller> {
  const now = new Date();
  const authority = createAuthority({ commonName: 'bench', days: 1, now });
  const names = [`${name}.${namespace}.svc`];
  const { certificate, key } = issueServing(authority, { names, days: 1, now });
  const folder = join(cluster.folder, name);
  mkdirSync(folder);
  const { labels, annotations } = wanted.metadata;
  const [container] = wanted.spec.initContainers ?? [];
  const change = {
    // the webhook adds the token's mount, which differs from pod to pod
    container: { ...container, volumeMounts: [] },
    labels: { [profileLabel]: labels[profileLabel] },
    annotations: { [statusAnnotation]: annotations?.[statusAnnotation] },
  };
  const files = { 'tls.crt': certificate, 'tls.key': key, 'change.json': JSON.stringify(change) };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const program = fileURLToPath(new URL('../../../node_modules/.cache/cni-gate-peer', import.meta.url));
  const port = 8443;
  spawn(...mortal(program, [String(port), folder, host]), { stdio: ['ignore', 'ignore', 'inherit'] }).unref();
  await eventually(() => accepts(host, port));
  return await behindService(cluster, name, { host, port }, Buffer.from(authority.certificate));
}

function accepts(host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(port, host, () => {
    socket.destroy();
    resolve();
  }).on('error', reject);
  return promise;
}
