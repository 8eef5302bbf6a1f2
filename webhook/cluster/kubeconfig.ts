import { existsSync } from 'node:fs';
import type { Agent, RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { quoted } from '../lib/clean.ts';
import { CniGateError, systemText } from '../lib/errors.ts';
import type { Access, Connection } from './client.ts';

/**
 * Access to a cluster by a kubeconfig file, with exec plugins, OIDC and proxies. This module is costly to import,
 * because it loads `@kubernetes/client-node` (docs/decisions/kubernetes-client.md).
 * @param file if undefined, `$KUBECONFIG` is used, or else `~/.kube/config`
 * @throws CniGateError CNI_GATE_CLUSTER_CONFIG if the file does not exist or cannot be used
 */
export function fromKubeconfig(file: string | undefined, context?: string): Access {
  const named = process.env.KUBECONFIG ?? '';
  const source = file ?? (named || join(homedir(), '.kube', 'config'));
  if (file === undefined && named === '' && !existsSync(source)) {
    throw new CniGateError(
      'CNI_GATE_CLUSTER_CONFIG',
      `no cluster to ask: this process does not run in a pod with a service account, $KUBECONFIG is not set, and ${source} does not exist. Give --kubeconfig`,
    );
  }
  const load = (chosen: string | undefined): KubeConfig => {
    const loaded = new KubeConfig();
    try {
      if (file !== undefined) loaded.loadFromFile(file);
      else loaded.loadFromDefault();
    } catch (error) {
      throw unusable(source, error);
    }
    if (chosen !== undefined) loaded.setCurrentContext(chosen);
    if (loaded.getCurrentCluster() !== null) return loaded;
    throw unusable(source, `it has no context ${chosen ?? 'that is current'}, or no cluster for it`);
  };
  let config = load(context);
  // keep this context, because another shell may switch `current-context` later
  const chosen = config.getCurrentContext();
  let stale = false;
  return {
    source,
    context: chosen,
    connection: async () => {
      // loads the file again, which also runs exec plugins again
      if (stale) config = load(chosen);
      stale = false;
      return connectionOf(config).catch((error: unknown) => {
        throw unusable(source, error);
      });
    },
    refresh: () => {
      stale = true;
    },
  };
}

async function connectionOf(config: KubeConfig): Promise<Connection> {
  const cluster = config.getCurrentCluster();
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, servername, rejectUnauthorized, agent } = options;
  return {
    server: cluster?.server ?? '',
    headers: { ...(options.headers as Record<string, string> | undefined) },
    tls: { ca, cert, key, servername, rejectUnauthorized },
    // only for a proxy, because client-node's agent keeps the authority and client certificate it was created with
    ...(cluster?.proxyUrl !== undefined && { agent: agent as Agent }),
  };
}

function unusable(source: string, error: unknown): CniGateError {
  // only the first line, because the other lines quote the file, which may contain a token or a key
  const [said = ''] = (typeof error === 'string' ? error : systemText(error)).split('\n');
  return new CniGateError('CNI_GATE_CLUSTER_CONFIG', `cannot use kubeconfig ${source}: ${quoted(said)}`, {
    cause: error,
  });
}
