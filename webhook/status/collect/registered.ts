import type { ApiClient } from '../../kubernetes/client.ts';
import { ClusterError } from '../../kubernetes/errors.ts';
import type { Source } from '../../kubernetes/reflector/list-all.ts';
import type { ApiObject } from '../../kubernetes/reflector/object.ts';
import { configurationsPath, type WebhookKind } from '../../kubernetes/webhook-configurations.ts';
import { webhookConfiguration } from '../../lib/names.ts';
import { askVersion, usesNominations } from '../../steer/eligibility.ts';
import type { RegisteredWebhook, SchedulerFacts } from '../facts.ts';
import { type ApiWebhookRules, webhookRules } from '../installation/webhook-rules.ts';

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
export const registeredSource = (kind: WebhookKind): Source<ConfigurationObject, RegisteredWebhook[]> => ({
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

/** What was asked for; undefined where whoever asks has no right to it: the rest of a status is worth having. */
export async function ifAllowed<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ClusterError && error.status === 403) return undefined;
    throw error;
  }
}

/** @throws ClusterError */
export async function schedulerFacts(client: ApiClient, signal: AbortSignal): Promise<SchedulerFacts> {
  const version = await askVersion(client, signal);
  return { version: version.gitVersion, goesByNominations: usesNominations(version) };
}
