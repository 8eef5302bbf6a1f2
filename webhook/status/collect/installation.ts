import { apiPath } from '../../kubernetes/api-path.ts';
import type { ApiClient } from '../../kubernetes/client.ts';
import type { Lease } from '../../kubernetes/lease/move.ts';
import { installedDeployment, installedPolicies, installedService, leaderLease } from '../../lib/names.ts';
import type { Registered, RegisteredWebhook } from '../facts.ts';
import type { InstallationFacts, LeaseFacts, Observation } from '../installation/facts.ts';
import { readCertificate } from './certificate.ts';
import { type ApiDeployment, pickDeployment } from './deployment.ts';
import { mapObservation, observe } from './observe.ts';
import { readPolicyPair } from './policy.ts';
import { type CalledService, readService } from './service.ts';

/**
 * Reads all that admission depends on besides the webhook configurations.
 *
 * @param registered what is in those
 * @param ownNamespace of cni-gate, where no webhook calls a Service in another
 * @throws ClusterError where the cluster does not answer; that something may not be read is in the facts
 */
export async function readInstallation(
  client: ApiClient,
  { registered, ownNamespace }: { registered: Registered; ownNamespace: string },
  signal: AbortSignal,
): Promise<InstallationFacts> {
  const webhooks = [...(registered.mutating ?? []), ...(registered.validating ?? [])];
  const services = servicesOf(webhooks);
  const urls = [...new Set(webhooks.flatMap(({ url }) => url ?? []))];
  const [first] = services;
  const namespace = first?.namespace ?? ownNamespace;
  // where nothing is registered, the Service tells whether anything is installed
  const asked =
    services.length > 0 || urls.length > 0
      ? services
      : [{ namespace: ownNamespace, name: installedService, port: 443 }];
  const [deployment, lease, read, policies] = await Promise.all([
    readDeployment(client, namespace, signal),
    readLease(client, namespace, signal),
    Promise.all(asked.map((service) => readService(client, service, signal))),
    Promise.all(installedPolicies.map((name) => readPolicyPair(client, name, signal))),
  ]);
  const now = (): Date => new Date(Date.now() + client.clockSkew);
  const certificate = await readCertificate(client, { namespace, deployment, webhooks, now }, signal);
  return {
    namespace,
    services: read,
    urls,
    deployment: mapObservation(deployment, pickDeployment),
    certificate,
    policies,
    lease,
    failurePolicy: registered.mutating?.[0]?.failurePolicy,
  };
}

/** The Services that webhooks call, each once for each port. There are as many as webhooks of ours at most. */
function servicesOf(webhooks: readonly RegisteredWebhook[]): CalledService[] {
  const called = new Map(
    webhooks.flatMap(({ service }) =>
      service === undefined ? [] : [[`${service.namespace}/${service.name}:${service.port}`, service]],
    ),
  );
  return [...called.values()];
}

function readDeployment(
  client: ApiClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Observation<ApiDeployment>> {
  const path = apiPath`/apis/apps/v1/namespaces/${namespace}/deployments/${installedDeployment}`;
  return observe('it', client.request<ApiDeployment>('GET', path, { signal }));
}

async function readLease(
  client: ApiClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Observation<LeaseFacts>> {
  const path = apiPath`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${leaderLease}`;
  const seen = await observe('it', client.request<Lease>('GET', path, { signal }));
  return mapObservation(seen, ({ spec }) => {
    const renewed = Date.parse(spec?.renewTime ?? '');
    return {
      holder: spec?.holderIdentity ?? '',
      // by our clock, as far as the holder's agrees with the API server's
      renewed: Number.isNaN(renewed) ? undefined : renewed - client.clockSkew,
      duration: (spec?.leaseDurationSeconds ?? 0) * 1000,
    };
  });
}
