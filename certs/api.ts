import type { Operation as PatchOperation } from 'fast-json-patch';
import { apiPath, pathBelow } from '../webhook/kubernetes/api-path.ts';
import type { ApiClient } from '../webhook/kubernetes/client.ts';
import { ClusterError } from '../webhook/kubernetes/errors.ts';
import { configurationsPath, type WebhookKind } from '../webhook/kubernetes/webhook-configurations.ts';
import { CniGateError, type ErrorCode } from '../webhook/lib/errors.ts';
import { certificatesLabel, certificatesLabelValue } from '../webhook/lib/names.ts';
import {
  type ConfigurationSnapshot,
  type ConfigurationsSnapshot,
  Conflict,
  type SecretSnapshot,
  type SharedObjects,
} from './shared.ts';
import { type SecretData, secretType } from './state.ts';

/** A webhook configuration whose caBundle to maintain. */
export interface ConfigurationName {
  kind: WebhookKind;
  name: string;
}

/** Which objects of the cluster the managed certificates are about. */
export interface ManagedObjects {
  /** Our namespace: that of the Secret and the Service. */
  namespace: string;
  secret: string;
  /** The Service that our webhooks call. */
  service: string;
  configurations: readonly ConfigurationName[];
}

interface Secret {
  metadata: { uid: string; resourceVersion: string; labels?: Record<string, string> | null };
  data?: Record<string, string> | null;
}

interface Configuration {
  metadata: { name: string; uid: string; resourceVersion: string; generation?: number };
  webhooks?: Webhook[] | null;
}

interface Webhook {
  clientConfig: { service?: { namespace: string; name: string } | null; caBundle?: string | null };
}

/** What replicas share, over the API of a cluster. Of webhook configurations it patches only our own caBundles. */
export class ApiObjects implements SharedObjects {
  readonly #client: ApiClient;
  readonly #objects: ManagedObjects;
  readonly #signal: AbortSignal | undefined;
  /** The Secret as it was last read: what is not ours in it is written back. */
  #last: Secret | undefined;

  /** @param signal ends every request */
  constructor(client: ApiClient, objects: ManagedObjects, signal?: AbortSignal) {
    this.#client = client;
    this.#objects = objects;
    this.#signal = signal;
  }

  /** Our clock, corrected by the API server's last answer. */
  now(): Date {
    return new Date(Date.now() + this.#client.clockSkew);
  }

  async secret(): Promise<SecretSnapshot | undefined> {
    try {
      return this.#snapshot(await this.#client.request('GET', this.#secretPath, { signal: this.#signal }));
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
      this.#last = undefined;
      return undefined;
    }
  }

  async write(data: SecretData, over: SecretSnapshot | undefined): Promise<SecretSnapshot> {
    const { namespace, secret: name } = this.#objects;
    const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    const { metadata = undefined, ...rest } = over ? (this.#last ?? {}) : {};
    const labels = { ...metadata?.labels, [certificatesLabel]: certificatesLabelValue };
    // with uid and version the API server rejects it where it is another Secret, or another version of it
    const identity = over ? { uid: over.uid, resourceVersion: over.version } : {};
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: secretType,
      ...rest,
      metadata: { namespace, name, ...metadata, ...identity, labels },
      data: Object.fromEntries(encoded),
    };
    const [method, path] = over ? (['PUT', this.#secretPath] as const) : (['POST', this.#folder] as const);
    return conflicting(
      `cannot write the Secret ${namespace}/${name}`,
      'CNI_GATE_TLS_SECRET',
      over ? [404, 409] : [409],
      async () => this.#snapshot(await this.#client.request(method, path, { body, signal: this.#signal })),
    );
  }

  async configurations(): Promise<ConfigurationsSnapshot> {
    const found: ConfigurationsSnapshot = {
      configurations: [],
      complete: true,
      absent: new Map(),
      failed: new Map(),
    };
    await Promise.all(this.#objects.configurations.map((name) => this.#readConfiguration(name, found)));
    return found;
  }

  async trust(configuration: ConfigurationSnapshot, bundle: string): Promise<void> {
    const [kind, name] = configuration.name.split('/') as [WebhookKind, string];
    const value = Buffer.from(bundle).toString('base64');
    const body: PatchOperation[] = [
      // of another version than this the API server answers with 409, so the indices are right
      { op: 'replace', path: '/metadata/resourceVersion', value: configuration.resourceVersion },
      ...configuration.webhooks.map(
        (index): PatchOperation => ({ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value }),
      ),
    ];
    const contentType = 'application/json-patch+json';
    await conflicting(
      `cannot write the authorities into ${configuration.name}`,
      'CNI_GATE_CA_BUNDLE',
      [404, 409],
      () =>
        this.#client.request('PATCH', pathOf({ kind, name }), { body, contentType, signal: this.#signal }),
    );
  }

  async #readConfiguration(wanted: ConfigurationName, found: ConfigurationsSnapshot): Promise<void> {
    const name = `${wanted.kind}/${wanted.name}`;
    const { namespace, service } = this.#objects;
    try {
      const read = await this.#client.request<Configuration>('GET', pathOf(wanted), { signal: this.#signal });
      const own = [...(read.webhooks ?? []).entries()].filter(([, webhook]) => calls(webhook, this.#objects));
      if (own.length === 0) {
        found.absent.set(name, `${name} has no webhook that calls the Service ${namespace}/${service}`);
        return;
      }
      found.configurations.push({
        name,
        version: `${read.metadata.uid}/${read.metadata.generation}`,
        resourceVersion: read.metadata.resourceVersion,
        webhooks: own.map(([index]) => index),
        bundles: own.map(([, { clientConfig }]) =>
          clientConfig.caBundle ? Buffer.from(clientConfig.caBundle, 'base64').toString() : undefined,
        ),
      });
    } catch (error) {
      if (isStatus(error, 404)) {
        found.absent.set(name, `${name} does not exist: nothing calls cni-gate by it`);
        return;
      }
      if (!(error instanceof CniGateError)) throw error;
      found.complete = false;
      found.failed.set(name, error);
    }
  }

  #snapshot(secret: Secret): SecretSnapshot {
    this.#last = secret;
    const { metadata, data } = secret;
    const texts = Object.entries(data ?? {}).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString(),
    ]);
    return {
      uid: metadata.uid,
      version: metadata.resourceVersion,
      labelled: metadata.labels?.[certificatesLabel] === certificatesLabelValue,
      data: Object.fromEntries(texts),
    };
  }

  get #folder(): string {
    return apiPath`/api/v1/namespaces/${this.#objects.namespace}/secrets`;
  }

  get #secretPath(): string {
    return pathBelow(this.#folder, this.#objects.secret);
  }
}

/**
 * The webhook configurations of a cluster in which anything calls our Service.
 *
 * @throws CniGateError where they may not be listed
 */
export async function configurationsCalling(
  client: ApiClient,
  objects: Pick<ManagedObjects, 'namespace' | 'service'>,
): Promise<ConfigurationName[]> {
  const kinds = ['mutating', 'validating'] as const;
  const found = await Promise.all(
    kinds.map(async (kind) => {
      const { items } = await client.request<{ items: Configuration[] }>('GET', configurationsPath(kind));
      return items
        .filter(({ webhooks }) => webhooks?.some((webhook) => calls(webhook, objects)))
        .map(({ metadata: { name } }): ConfigurationName => ({ kind, name }));
    }),
  );
  return found.flat();
}

function calls(
  { clientConfig }: Webhook,
  { namespace, service }: Pick<ManagedObjects, 'namespace' | 'service'>,
): boolean {
  return clientConfig.service?.namespace === namespace && clientConfig.service.name === service;
}

function pathOf({ kind, name }: ConfigurationName): string {
  return pathBelow(configurationsPath(kind), name);
}

/** Runs a write. These answers become a {@link Conflict}, and other errors get a code and say what was tried. */
async function conflicting<Result>(
  what: string,
  code: ErrorCode,
  conflicts: readonly number[],
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (conflicts.some((status) => isStatus(error, status))) throw new Conflict();
    if (!(error instanceof CniGateError)) throw error;
    throw new CniGateError(code, `${what}: ${error.message}`, { cause: error });
  }
}

/** Whether the API server answered with an HTTP status. */
function isStatus(error: unknown, status: number): boolean {
  return error instanceof ClusterError && error.status === status;
}
