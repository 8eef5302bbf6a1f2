import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import { configurationsPath, type WebhookKind } from '../../cluster/webhook-configurations.ts';
import { webhookConfiguration } from '../../lib/names.ts';
import { type ApiWebhookRules, webhookRules } from './digests.ts';
import { ifAllowed } from './observation.ts';
import { readList } from './reader.ts';

/** A webhook that is registered. */
export type RegisteredWebhook = ReturnType<typeof pickWebhook>;

/** What is in our webhook configurations; undefined where that may not be read. */
export type Registered = Awaited<ReturnType<typeof readRegistered>>;

/** Reads our webhook configurations. @throws ClusterError where the cluster does not answer */
export async function readRegistered(client: ApiClient) {
  const webhooks = async (kind: WebhookKind): Promise<RegisteredWebhook[] | undefined> => {
    const source = {
      resource: `${kind}webhookconfigurations`,
      path: configurationsPath(kind),
      // also what a role may be held to
      query: { fieldSelector: `metadata.name=${webhookConfiguration}` },
      pick: ({ webhooks: found }: ConfigurationObject) => (found ?? []).map(pickWebhook),
    };
    return (await ifAllowed(readList(client, source)))?.flat();
  };
  const [mutating, validating] = await Promise.all([webhooks('mutating'), webhooks('validating')]);
  return { mutating, validating };
}

interface ApiWebhook extends ApiWebhookRules {
  name: string;
  clientConfig: {
    service?: { namespace: string; name: string; port?: number | null; path?: string | null } | null;
    url?: string | null;
    caBundle?: string | null;
  };
  failurePolicy?: 'Fail' | 'Ignore' | null;
}

type ConfigurationObject = ApiObject & { webhooks?: ApiWebhook[] | null };

function pickWebhook(webhook: ApiWebhook) {
  const { name, clientConfig, failurePolicy } = webhook;
  const { service, url, caBundle } = clientConfig;
  return {
    name,
    // Without a caBundle the API server goes by the authorities of its own machine, and none of those signs for the
    // name of a Service, `cni-gate.cni-gate.svc`. For one that is called by a URL it may.
    trusted: !service || !!caBundle,
    ...(service && {
      service: { namespace: service.namespace, name: service.name, port: service.port ?? 443 },
    }),
    ...(url && { url }),
    ...(caBundle && { caBundle }),
    ...(failurePolicy && { failurePolicy }),
    rules: webhookRules(webhook),
  };
}
