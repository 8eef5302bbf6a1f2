import { readFileSync } from 'node:fs';
import type { Access } from '../../cluster/harness/access.ts';
import { Api } from '../../cluster/harness/api.ts';
import { answerCall, type Configuration } from '../../netns/chain/mesh-plugin.ts';

interface Settings extends Configuration {
  /** Path of what `programs/installer.ts` put there. */
  credentials: string;
}

interface Pod {
  metadata: { annotations?: Record<string, string> };
  spec: { containers: { name: string }[]; initContainers?: { name: string }[] };
}

/**
 * The plugin of a mesh that looks at the pod, as linkerd-cni does: it acts on one that carries the proxy and no
 * `linkerd-init`, which would write the rules itself. It asks the API server once. Tests' annotations make it leave a
 * pod out, or its inbound rules.
 */
await answerCall(async (configuration) => {
  const { server, credentials } = read((configuration as Settings).credentials);
  const api = new Api({ server, credentials });
  const { metadata, spec } = await api.get<Pod>(podPath());
  const names = [...spec.containers, ...(spec.initContainers ?? [])].map(({ name }) => name);
  api.close();
  if (metadata.annotations?.['example.com/no-rules'] !== undefined) return false;
  if (!names.includes('linkerd-proxy') || names.includes('linkerd-init')) return false;
  return metadata.annotations?.['example.com/no-inbound-rules'] === undefined || 'outbound';
});

function read(path: string): Pick<Access, 'server' | 'credentials'> {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Which pod it is about: `CNI_ARGS` has `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0`, among others. */
function podPath(): string {
  const args = new Map(
    (process.env.CNI_ARGS ?? '').split(';').map((arg) => arg.split('=') as [string, string]),
  );
  return `/api/v1/namespaces/${args.get('K8S_POD_NAMESPACE')}/pods/${args.get('K8S_POD_NAME')}`;
}
