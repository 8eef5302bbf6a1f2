import type { ServiceFacts } from '../../../status/installation/facts.ts';
import { apiPath } from '../../api-path.ts';
import type { ApiClient } from '../../client.ts';
import { listAll } from '../../reflector/list-all.ts';
import type { ApiObject } from '../../reflector/object.ts';
import { defaultTiming } from '../../reflector/timing.ts';
import { pickSeen, see } from './seen.ts';

interface ApiService {
  spec: { type?: string; externalName?: string; ports?: { port: number }[] | null };
}

/** https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/ */
interface ApiEndpointSlice extends ApiObject {
  endpoints?: { conditions?: { ready?: boolean | null } | null }[] | null;
}

/** A Service by its name, and the port that webhooks call. */
export type CalledService = Pick<ServiceFacts, 'namespace' | 'name' | 'port'>;

/** Reads a Service and counts its endpoints. */
export async function readService(
  client: ApiClient,
  called: CalledService,
  signal: AbortSignal,
): Promise<ServiceFacts> {
  const path = apiPath`/api/v1/namespaces/${called.namespace}/services/${called.name}`;
  const [service, slices] = await Promise.all([
    see('it', client.request<ApiService>('GET', path, { signal })),
    see('its EndpointSlices', listSlices(client, called, signal)),
  ]);
  return {
    ...called,
    service: pickSeen(service, ({ spec: { type, externalName, ports } }) => ({
      ports: (ports ?? []).map(({ port }) => port),
      externalName: type === 'ExternalName' ? (externalName ?? '') : undefined,
    })),
    endpoints: pickSeen(slices, (found) => {
      const endpoints = found.flat();
      return { all: endpoints.length, ready: endpoints.filter(Boolean).length };
    }),
  };
}

/** Of each slice, whether its endpoints are ready: also one that does not say so (`ready` is optional). */
async function listSlices(
  client: ApiClient,
  { namespace, name }: CalledService,
  signal: AbortSignal,
): Promise<boolean[][]> {
  const source = {
    resource: 'endpointslices',
    path: apiPath`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
    query: { labelSelector: `kubernetes.io/service-name=${name}` },
    pick: ({ endpoints }: ApiEndpointSlice) =>
      (endpoints ?? []).map(({ conditions }) => conditions?.ready !== false),
  };
  const { entries } = await listAll(client, source, {
    timeout: defaultTiming.answer,
    signal,
    onPage: () => {},
  });
  return Array.from(entries, ({ object }) => object);
}
