import { writeFileSync } from 'node:fs';
import { KubeConfig, type User } from '@kubernetes/client-node';
import type { Pair } from './pki.ts';

export interface Server {
  url: string;
  authority: string;
}

export type Credentials = Pair | { token: string };

export interface Access {
  server: Server;
  credentials: Credentials;
  /** Path of a self-contained kubeconfig, for `kubectl` and other programs. */
  kubeconfig: string;
  config: KubeConfig;
}

export function accessWith(server: Server, file: string, credentials: Credentials): Access {
  const shown: Partial<User> =
    'token' in credentials
      ? { token: credentials.token }
      : { certData: base64(credentials.certificate), keyData: base64(credentials.key) };
  const cluster = {
    name: 'cluster',
    server: server.url,
    caData: base64(server.authority),
    skipTLSVerify: false,
  };
  const config = new KubeConfig();
  config.loadFromClusterAndUser(cluster, { name: 'user', ...shown });
  // every JSON text is also YAML
  writeFileSync(file, config.exportConfig(), { mode: 0o600 });
  return { server, credentials, kubeconfig: file, config };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
