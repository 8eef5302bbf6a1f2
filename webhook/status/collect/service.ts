import { apiPath } from '../../kubernetes/api-path.ts';
import type { ApiClient } from '../../kubernetes/client.ts';
import { listAll } from '../../kubernetes/reflector/list-all.ts';
import { defaultTiming } from '../../kubernetes/reflector/next-step.ts';
import type { ApiObject } from '../../kubernetes/reflector/source.ts';
import { foundIn, type ServiceFacts } from '../installation/facts.ts';
import { mapObservation, observe } from './observe.ts';

/** What a port of a Service and the port of its EndpointSlices have in common. */
interface ApiPort {
  name?: string | null;
  /** `TCP` where it is missing. */
  protocol?: string | null;
}

interface ApiService {
  spec: { type?: string; externalName?: string; ports?: (ApiPort & { port: number })[] | null };
}

/** https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/ */
interface ApiEndpointSlice extends ApiObject {
  /** Null where the Service's `targetPort` names no port of the pods. */
  ports?: (ApiPort & { port?: number | null })[] | null;
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
    observe('it', client.request<ApiService>('GET', path, { signal })),
    observe('its EndpointSlices', listSlices(client, called, signal)),
  ]);
  return {
    ...called,
    service: mapObservation(service, ({ spec: { type, externalName, ports } }) => ({
      ports: (ports ?? []).map(({ port }) => port),
      externalName: type === 'ExternalName' ? (externalName ?? '') : undefined,
    })),
    endpoints: mapObservation(slices, (found) => {
      const wanted = foundIn(service)?.spec.ports?.filter(({ port }) => port === called.port) ?? [];
      const names = tcpNames(wanted);
      const all = found.flatMap(({ ready }) => ready);
      const withPort = found.filter(({ ports }) => ports.some((name) => names.includes(name)));
      const ready = withPort.flatMap((slice) => slice.ready);
      return { all: all.length, withPort: ready.length, ready: ready.filter(Boolean).length };
    }),
  };
}

/** What is read of an EndpointSlice. All its endpoints have its ports. */
interface Slice {
  /** Names of its TCP ports. */
  ports: string[];
  /** For each endpoint, whether it is ready: also one that does not say so (`ready` is optional). */
  ready: boolean[];
}

/** The names of the TCP ports; a port may have the empty name. */
const tcpNames = (ports: readonly ApiPort[]): string[] =>
  ports.flatMap(({ name, protocol }) => ((protocol ?? 'TCP') === 'TCP' ? (name ?? '') : []));

async function listSlices(
  client: ApiClient,
  { namespace, name }: CalledService,
  signal: AbortSignal,
): Promise<Slice[]> {
  const source = {
    resource: 'endpointslices',
    path: apiPath`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
    query: { labelSelector: `kubernetes.io/service-name=${name}` },
    pick: ({ endpoints, ports }: ApiEndpointSlice): Slice => ({
      ports: tcpNames((ports ?? []).filter(({ port }) => typeof port === 'number')),
      ready: (endpoints ?? []).map(({ conditions }) => conditions?.ready !== false),
    }),
  };
  const { entries } = await listAll(client, source, {
    timeout: defaultTiming.answer,
    signal,
    onPage: () => {},
  });
  return Array.from(entries, ({ object }) => object);
}
