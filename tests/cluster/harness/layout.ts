import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Access, accessWith } from './access.ts';
import type { ClusterOptions, ComponentName } from './options.ts';
import type { ClusterAuthority } from './pki.ts';

/** The range of Services' cluster IPs, where nothing answers: the API server calls the endpoints directly. */
export const serviceRange = '10.96.0.0/16';
/** The cluster IP of the `kubernetes` Service, which is the first of the range. */
export const kubernetesService = '10.96.0.1';

/**
 * The first of a control plane's ports. All of them are free, because a run has its own network namespace, and Linux
 * uses only higher ports for outgoing connections.
 */
const firstPort = 20_000;

export interface Layout {
  folder: string;
  ports: Record<Exclude<ComponentName, 'kwok'> | 'etcdPeers', number>;
  files: Record<
    'authority' | 'authorityKey' | 'server' | 'serverKey' | 'tokens' | 'tokensKey' | 'kubelet' | 'kubeletKey',
    string
  >;
  access: Record<'admin' | 'controllers' | 'scheduler', Access>;
  options: ClusterOptions;
}

export async function layOut(
  folder: string,
  authority: ClusterAuthority,
  options: ClusterOptions,
): Promise<Layout> {
  // SEC 1, because client-go (util/keyutil) reads `--service-account-key-file` only in this form
  const tokens = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const [serving, kubelet, admin, controllers, scheduler] = await Promise.all([
    authority.serving(['localhost', '127.0.0.1', kubernetesService, 'kubernetes.default.svc']),
    authority.client('kube-apiserver-kubelet-client', ['system:masters']),
    authority.client('admin', ['system:masters']),
    authority.client('system:kube-controller-manager'),
    authority.client('system:kube-scheduler'),
  ]);
  const server = { url: `https://127.0.0.1:${firstPort}`, authority: authority.pair.certificate };
  const save = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const accessOf = (name: string, pair: Access['credentials']): Access =>
    accessWith(server, join(folder, `${name}.kubeconfig`), pair);
  return {
    folder,
    options,
    ports: {
      'kube-apiserver': firstPort,
      etcd: firstPort + 1,
      etcdPeers: firstPort + 2,
      'kube-controller-manager': firstPort + 3,
      'kube-scheduler': firstPort + 4,
    },
    files: {
      authority: save('authority.crt', authority.pair.certificate),
      authorityKey: save('authority.key', authority.pair.key),
      server: save('server.crt', serving.certificate),
      serverKey: save('server.key', serving.key),
      tokens: save('tokens.pub', tokens.publicKey),
      tokensKey: save('tokens.key', tokens.privateKey),
      kubelet: save('kubelet-client.crt', kubelet.certificate),
      kubeletKey: save('kubelet-client.key', kubelet.key),
    },
    access: {
      admin: accessOf('admin', admin),
      controllers: accessOf('controllers', controllers),
      scheduler: accessOf('scheduler', scheduler),
    },
  };
}
