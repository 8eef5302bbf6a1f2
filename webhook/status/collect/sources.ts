import { evidencePick } from '../../evidence/to-facts.ts';
import { optedInTo } from '../../inject/profile-selection.ts';
import type { ApiObject } from '../../kubernetes/reflector/object.ts';
import type { Source } from '../../kubernetes/reflector/source.ts';
import { configurationsPath, type WebhookKind } from '../../kubernetes/webhook-configurations.ts';
import { profileLabel, webhookConfiguration } from '../../lib/names.ts';
import { podsPath } from '../../view/sources.ts';
import { type NamespaceObject, namespaceSource } from '../../view/watch-namespaces.ts';
import type { OptIn, PodFacts, RegisteredWebhook } from '../facts.ts';
import { type ApiWebhookRules, webhookRules } from '../installation/webhook-rules.ts';
import { type ApiStatusPod, type Exempting, pickPod } from '../pick-pod.ts';

/** What a status covers. */
export interface Wanted extends Exempting {
  /** Of the namespaces that opted in, only this one. */
  namespace: string | undefined;
}

/** A pod, as far as status reads it. */
export type StatusPodObject = ApiObject & ApiStatusPod;

/**
 * The namespaces that opted in.
 *
 * @param only one namespace, whether it opted in or not
 */
export const optInSource = (only: string | undefined): Source<NamespaceObject, OptIn> => ({
  resource: 'namespaces',
  path: namespaceSource.path,
  query: only === undefined ? { labelSelector: profileLabel } : { fieldSelector: `metadata.name=${only}` },
  pick: ({ metadata }) => ({ name: metadata.name, profile: optedInTo(metadata.labels ?? {}) }),
});

/** The pods of each namespace that opted in, by its name. Pods that came to their end prove and hold nothing. */
export function podSources(
  namespaces: Iterable<OptIn>,
  exempting: Exempting,
): Map<string, Source<StatusPodObject, PodFacts>> {
  const sources = new Map<string, Source<StatusPodObject, PodFacts>>();
  const toEvidence = evidencePick();
  for (const { name, profile } of namespaces) {
    if (profile === undefined) continue;
    sources.set(name, {
      resource: `pods of namespace ${name}`,
      path: podsPath(name),
      query: { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' },
      pick: (pod) => pickPod(pod, exempting, toEvidence),
    });
  }
  return sources;
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
