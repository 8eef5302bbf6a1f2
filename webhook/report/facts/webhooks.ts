import type { ApiObject } from '../../cluster/informer/object.ts';
import type { Source } from '../../cluster/informer/source.ts';
import { configurationsPath, type WebhookKind } from '../../cluster/webhook-configurations.ts';
import { webhookConfiguration } from '../../lib/names.ts';
import { type ApiWebhookRules, webhookRules } from './digests.ts';
import type { Registered, RegisteredWebhook } from './installation-model.ts';
import { ifAllowed } from './observation.ts';
import type { ClusterReader } from './reader.ts';

/** Reads our webhook configurations. @throws ClusterError where the cluster does not answer */
export async function readRegistered(reader: ClusterReader): Promise<Registered> {
  const webhooks = async (kind: WebhookKind): Promise<RegisteredWebhook[] | undefined> =>
    (await ifAllowed(reader.list(registeredSource(kind))))?.flat();
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

/** The webhooks in our configuration of a kind: a list of one configuration, or of none. */
const registeredSource = (kind: WebhookKind): Source<ConfigurationObject, RegisteredWebhook[]> => ({
  resource: `${kind}webhookconfigurations`,
  path: configurationsPath(kind),
  // also what a role may be held to
  query: { fieldSelector: `metadata.name=${webhookConfiguration}` },
  pick: ({ webhooks }) => (webhooks ?? []).map(pickWebhook),
});

function pickWebhook(webhook: ApiWebhook): RegisteredWebhook {
  const { name, clientConfig, failurePolicy } = webhook;
  const { service, url, caBundle } = clientConfig;
  return {
    name,
    trusted: isTrusted(clientConfig),
    ...(service && {
      service: { namespace: service.namespace, name: service.name, port: service.port ?? 443 },
    }),
    ...(url && { url }),
    ...(caBundle && { caBundle }),
    ...(failurePolicy && { failurePolicy }),
    rules: webhookRules(webhook),
  };
}

/**
 * Without a caBundle the API server goes by the authorities of its own machine, and none of those signs for the name
 * of a Service, `cni-gate.cni-gate.svc`. For one that is called by a URL it may.
 */
const isTrusted = ({ service, caBundle }: ApiWebhook['clientConfig']): boolean => !service || !!caBundle;
