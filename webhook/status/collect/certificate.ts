import { whyNotAccepted } from '../../../certs/accept.ts';
import { apiPath } from '../../kubernetes/api-path.ts';
import type { ApiClient } from '../../kubernetes/client.ts';
import { own } from '../../lib/own.ts';
import type { RegisteredWebhook } from '../facts.ts';
import { type CertificateFacts, foundIn, type Observation } from '../installation/facts.ts';
import { type ApiDeployment, servingSecret } from './deployment.ts';
import { mapObservation, observe } from './observe.ts';

const notSaid = (why: string): Observation<never> => ({ unknown: { why, forbidden: false } });

/**
 * The certificate in the replicas' Secret, verified as the API server does for each webhook that calls a Service. With
 * managed certificates it is the authority's: each replica signs its own certificate.
 *
 * @param webhooks whose caBundles to look at
 * @param now the API server's time
 */
export async function readCertificate(
  client: ApiClient,
  {
    namespace,
    deployment,
    webhooks,
    now,
  }: {
    namespace: string;
    deployment: Observation<ApiDeployment>;
    webhooks: readonly RegisteredWebhook[];
    now: () => Date;
  },
  signal: AbortSignal,
): Promise<Observation<CertificateFacts>> {
  if (deployment === 'absent') return notSaid('there is no Deployment that says in which Secret it is');
  const found = foundIn(deployment);
  if (found === undefined)
    return notSaid('the Deployment, which says in which Secret it is, may not be read');
  const at = servingSecret(found);
  if (at === undefined) return notSaid('the Deployment does not say in which Secret it is');
  const secret = `${namespace}/${at.name}`;
  const path = apiPath`/api/v1/namespaces/${namespace}/secrets/${at.name}`;
  const read = await observe(
    `Secret ${secret}`,
    client.request<{ data?: Record<string, string> | null }>('GET', path, { signal }),
  );
  if (read === 'absent') return notSaid(`Secret ${secret} does not exist`);
  return mapObservation(read, ({ data }) => {
    const chain = decoded(own(data, at.key));
    return {
      secret,
      webhooks: webhooks.flatMap(({ name, service, caBundle }) => {
        if (service === undefined) return [];
        const host = at.isAuthority ? undefined : `${service.name}.${service.namespace}.svc`;
        return [{ name, fault: whyNotAccepted(chain, decoded(caBundle), host, now()) }];
      }),
    };
  });
}

const decoded = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString();
