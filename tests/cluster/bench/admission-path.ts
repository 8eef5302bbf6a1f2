import { parseAllDocuments } from 'yaml';
import type { Cluster } from '../harness/cluster.ts';
import { overlayPath, policyName } from '../installed/overlay.ts';

type Fields = Record<string, unknown>;

interface KubeObject extends Fields {
  kind: string;
  metadata: { name: string };
}

/** What the API server goes through for a pod of one namespace. */
export interface AdmissionPath {
  namespace: string;
  /** The Service of the webhook, with the authority of its certificate in PEM. */
  service: { namespace: string; name: string };
  authority: Buffer;
  /** Whether the policy over final pods is in force. */
  policy: boolean;
  /** Whose overlay `strict` has webhook and policy: this checkout's where none is given. */
  checkout?: string | undefined;
}

/** The names of webhook and policy of a namespace, by which the API server's metrics have them. */
export const nameOf = (namespace: string): string => `${namespace}.bench.cni-gate.io`;

/**
 * Registers webhook and policy as the overlay `strict` has them, for one namespace only: several can be in force side by
 * side.
 */
export async function register(cluster: Cluster, path: AdmissionPath): Promise<void> {
  const overlay = await cluster.kubectl(['kustomize', overlayPath('strict', path.checkout)]);
  const objects = parseAllDocuments(overlay).map((document): KubeObject => document.toJS());
  const name = nameOf(path.namespace);
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': path.namespace } };
  const input = objects.flatMap((object): object[] => {
    if (object.kind === 'MutatingWebhookConfiguration') {
      const [webhook] = object.webhooks as Fields[];
      const clientConfig = {
        service: { ...path.service, path: '/mutate', port: 443 },
        caBundle: path.authority.toString('base64'),
      };
      return [
        { ...object, metadata: { name }, webhooks: [{ ...webhook, name, clientConfig, namespaceSelector }] },
      ];
    }
    if (!path.policy) return [];
    if (object.kind === 'ConfigMap' && object.metadata.name === 'cni-gate-policy') return [object];
    if (object.metadata.name !== policyName) return [];
    const spec = object.spec as Fields;
    const renamed =
      object.kind === 'ValidatingAdmissionPolicyBinding'
        ? { ...spec, policyName: name }
        : { ...spec, matchConstraints: { ...(spec.matchConstraints as Fields), namespaceSelector } };
    return [{ ...object, metadata: { name }, spec: renamed }];
  });
  await cluster.apply(...input);
}
