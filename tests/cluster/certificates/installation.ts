import assert from 'node:assert/strict';
import { readSecret, type State } from '../../../certs/rotation.ts';
import { certificatesLabel, certificatesLabelValue } from '../../../webhook/lib/names.ts';
import { accountOfManifests } from '../gate/scene.ts';
import type { Access } from '../harness/access.ts';
import { ApiError } from '../harness/api.ts';
import type { Cluster } from '../harness/cluster.ts';
import { configurationOf, webhookFor } from '../harness/registration.ts';
import { endpoints, serviceAt } from '../harness/service.ts';
import { port, Replica } from './replica.ts';

export const namespace = 'cni-gate';
export const secretName = 'cni-gate-tls';
export const configuration = 'mutating/cni-gate';
export const secretPath = `/api/v1/namespaces/${namespace}/secrets/${secretName}`;
export const configurationPath =
  '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/cni-gate';
export const validatingPath =
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/cni-gate';
const slicePath = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/cni-gate`;
const endpointsPath = `/api/v1/namespaces/${namespace}/endpoints/cni-gate`;

/** How long a new authority is trusted before replicas sign with it. This is the shortest time that works here. */
export const overlap = '5s';

interface Secret {
  metadata: { uid: string; resourceVersion: string; labels?: Record<string, string> };
  data?: Record<string, string>;
}

interface Configuration {
  webhooks: { name: string; clientConfig: { caBundle?: string } }[];
}

export class Installation {
  readonly cluster: Cluster;
  readonly access: Access;
  #written = 0;

  private constructor(cluster: Cluster, access: Access) {
    this.cluster = cluster;
    this.access = access;
  }

  static async make(cluster: Cluster): Promise<Installation> {
    const installation = new Installation(cluster, await accountOfManifests(cluster));
    await cluster.apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { opted: 'in' } } },
      ...serviceAt(namespace, 'cni-gate', [{ host: '10.254.1.1', port }]),
      configurationOf('Mutating', 'cni-gate', [webhook('pods.cni-gate.io', 'cni-gate', 'pods')]),
      configurationOf('Validating', 'cni-gate', [
        webhook('somebody.example.com', 'somebody', 'nothing'),
        webhook('bindings.cni-gate.io', 'cni-gate', 'nothing'),
      ]),
    );
    await installation.endpoints([]);
    return installation;
  }

  /** Starts a replica at the given address. The API server calls it only after {@link endpoints} has named it. */
  replica(host: string, flags: string[] = [], access = this.access): Replica {
    const managed = ['--tls-secret', secretName];
    const rest = [
      '--profile',
      'cilium',
      '--tls-overlap',
      overlap,
      '--drain-delay',
      '2s',
      // the API server keeps idle connections for 90 s, and most tests do not wait until they close
      '--drain-timeout',
      '4s',
      '--log-level',
      'info',
    ];
    return new Replica(host, access, [...managed, ...rest, ...flags]);
  }

  async endpoints(replicas: Replica[]): Promise<void> {
    const ready = replicas.map(({ host }) => ({ addresses: [host], conditions: { ready: true } }));
    await this.cluster.api.patch(slicePath, { endpoints: ready });
    const addresses = replicas.map(({ host }) => ({ host, port }));
    await this.cluster.api.patch(endpointsPath, endpoints(namespace, 'cni-gate', addresses));
  }

  async secret(): Promise<Secret> {
    return this.cluster.api.get<Secret>(secretPath);
  }

  async data(): Promise<Record<string, string>> {
    return decoded((await this.secret()).data);
  }

  async state(): Promise<State> {
    const { state, fault } = readSecret(await this.data(), new Date());
    return state ?? assert.fail(fault.message);
  }

  /** Writes the Secret. The API server reports the write to watches even if the data is the same. */
  async setData(data: Record<string, string>, labelled = true): Promise<void> {
    const encoded = Object.fromEntries(
      Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    );
    const labels = labelled ? { [certificatesLabel]: certificatesLabelValue } : {};
    this.#written += 1;
    const annotations = { written: String(this.#written) };
    for (;;) {
      const { metadata: stored, ...rest } = await this.secret();
      const metadata = { ...stored, labels, annotations };
      try {
        await this.cluster.api.put(secretPath, { ...rest, metadata, data: encoded });
        return;
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 409)) throw error;
      }
    }
  }

  async until(wanted: (state: State) => boolean, seconds = 60): Promise<State> {
    const list = `/api/v1/namespaces/${namespace}/secrets?fieldSelector=metadata.name%3D${secretName}`;
    const read = ({ data }: Secret): State | undefined => readSecret(decoded(data), new Date()).state;
    const isWanted = (state: State | undefined): boolean => state !== undefined && wanted(state);
    const secret = await this.cluster.api.until<Secret>(
      list,
      (seen, type) => type !== 'DELETED' && isWanted(read(seen)),
      seconds,
    );
    return read(secret) ?? assert.fail('the Secret was readable a moment ago');
  }

  async untilBundles(found: (bundle: string) => unknown, seconds = 60): Promise<void> {
    for (const path of [configurationPath, validatingPath]) {
      const [folder, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
      await this.cluster.api.until<Configuration>(
        `${folder}?fieldSelector=metadata.name%3D${name}`,
        ({ webhooks }) =>
          webhooks
            .filter((webhook) => webhook.name !== 'somebody.example.com')
            .every(({ clientConfig }) =>
              found(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()),
            ),
        seconds,
      );
    }
  }
}

function decoded(data: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}

function webhook(name: string, service: string, resource: string): object {
  const clientConfig = { service: { namespace, name: service, path: '/mutate', port: 443 } };
  const namespaceSelector = { matchLabels: { opted: 'in' } };
  return webhookFor([resource], { name, clientConfig, namespaceSelector, timeoutSeconds: 10 });
}
