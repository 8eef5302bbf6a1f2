import { readFileSync } from 'node:fs';
import type { Access } from '../../cluster/harness/access.ts';
import { Api } from '../../cluster/harness/api.ts';
import { answerCall, type Configuration } from '../../netns/chain/mesh-plugin.ts';

interface Settings extends Configuration {
  /** Path of the file with credentials that `programs/installer.ts` wrote. */
  credentials: string;
}

interface Pod {
  metadata: { annotations?: Record<string, string> };
  spec: { containers: { name: string }[]; initContainers?: { name: string }[] };
}

/**
 * A mesh's plugin that reads the pod from the API server, as linkerd-cni does. It writes rules only for a pod that has
 * the proxy and no `linkerd-init`, which would write the rules itself. Annotations of tests make it skip the pod, or
 * only the inbound rules.
 */
await answerCall(async (configuration) => {
  const { server, credentials } = read((configuration as Settings).credentials);
  const api = new Api({ server, credentials });
  const { metadata, spec } = await api.get<Pod>(podPath());
  const names = [...spec.containers, ...(spec.initContainers ?? [])].map(({ name }) => name);
  api.close();
  if (metadata.annotations?.['example.com/no-rules'] !== undefined) return false;
  if (!names.includes('linkerd-proxy') || names.includes('linkerd-init')) return false;
  if (metadata.annotations?.['example.com/no-inbound-rules'] !== undefined) return 'outbound';
  const skippedInbound = metadata.annotations?.['config.linkerd.io/skip-inbound-ports'];
  return skippedInbound === undefined || { skippedInbound };
});

function read(path: string): Pick<Access, 'server' | 'credentials'> {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** The pod's API path. `CNI_ARGS` contains, among others, `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0`. */
function podPath(): string {
  const args = new Map(
    (process.env.CNI_ARGS ?? '').split(';').map((arg) => arg.split('=') as [string, string]),
  );
  return `/api/v1/namespaces/${args.get('K8S_POD_NAMESPACE')}/pods/${args.get('K8S_POD_NAME')}`;
}
