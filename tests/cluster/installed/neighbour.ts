import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import type { Cluster } from '../harness/cluster.ts';
import { configurationOf, webhookFor } from '../harness/registration.ts';

export interface ReviewedPod {
  metadata: { annotations?: Record<string, string> };
  spec: { initContainers?: { name: string }[]; containers: { name: string }[] };
}

export type Patch = { op: 'add' | 'replace'; path: string; value: unknown }[];

/** Registers another mutating webhook, for pods of namespaces with the label `neighbours: yes`. */
export async function startNeighbour(
  cluster: Cluster,
  name: string,
  address: string,
  change: (pod: ReviewedPod) => Patch,
): Promise<{ close(): Promise<void> }> {
  const { certificate, key } = await cluster.authority.serving([address]);
  const server = createServer({ cert: certificate, key }, answering(change));
  // with Node's default of 5 s, Node could close a connection just when the API server uses it
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve, reject) => server.on('error', reject).listen(0, address, resolve));
  const { port } = server.address() as { port: number };
  const caBundle = Buffer.from(cluster.authority.pair.certificate).toString('base64');
  const webhook = webhookFor(['pods'], {
    name: `${name}.example.com`,
    clientConfig: { url: `https://${address}:${port}/`, caBundle },
    namespaceSelector: { matchLabels: { neighbours: 'yes' } },
    reinvocationPolicy: 'IfNeeded',
  });
  await cluster.apply(configurationOf('Mutating', name, [webhook]));
  return {
    close: async () => {
      await cluster.kubectl(['delete', 'mutatingwebhookconfigurations', name]);
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}

export function answering(change: (pod: ReviewedPod) => Patch): RequestListener {
  return (request, response) =>
    void json(request).then((body) => {
      const { request: asked } = body as { request: { uid: string; object: ReviewedPod } };
      const patch = change(asked.object);
      const answer = { uid: asked.uid, allowed: true, ...(patch.length > 0 && encoded(patch)) };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }),
      );
    });
}

const encoded = (patch: Patch): object => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
});

export const firstInit = ({ spec }: ReviewedPod): Patch => {
  const { initContainers } = spec;
  if (initContainers?.some(({ name }) => name === 'neighbour-init')) return [];
  const value = { name: 'neighbour-init', image: 'example/init' };
  return initContainers
    ? [{ op: 'add', path: '/spec/initContainers/0', value }]
    : [{ op: 'add', path: '/spec/initContainers', value: [value] }];
};

/** Adds linkerd's proxy container, as linkerd's injector does if linkerd's CNI plugin is enabled. */
export const meshProxy = ({ spec }: ReviewedPod): Patch =>
  spec.containers.some(({ name }) => name === 'linkerd-proxy')
    ? []
    : [{ op: 'add', path: '/spec/containers/0', value: { name: 'linkerd-proxy', image: 'example/proxy' } }];
