import type { Operation as PatchOperation } from 'fast-json-patch';
import { apiPath, pathBelow } from '../webhook/cluster/api-path.ts';
import type { ApiClient } from '../webhook/cluster/client.ts';
import { ClusterError } from '../webhook/cluster/errors.ts';
import { configurationsPath, type WebhookKind } from '../webhook/cluster/webhook-configurations.ts';
import { CniGateError, type ErrorCode } from '../webhook/lib/errors.ts';
import { certificatesLabel, certificatesLabelValue } from '../webhook/lib/names.ts';
import { type SecretData, secretType } from './state.ts';

/** The name of a webhook configuration whose caBundle to maintain: `mutating/NAME` or `validating/NAME`. */
export type ConfigurationName = `${WebhookKind}/${string}`;

/** The objects of the cluster that the managed certificates are about. */
export interface ManagedObjects {
  /** Our namespace: that of the Secret and the Service. */
  namespace: string;
  secret: string;
  /** The Service that our webhooks call. */
  service: string;
  configurations: readonly ConfigurationName[];
}

/** The Secret as it was read. */
export interface SecretSnapshot {
  uid: string;
  /** Its resourceVersion: a write fails if it has changed since. */
  version: string;
  /** Whether it carries our label. */
  labelled: boolean;
  /** As text; bytes that are no UTF-8 become replacement characters. */
  data: SecretData;
}

/** A webhook configuration as it was read. */
export interface ConfigurationSnapshot {
  name: ConfigurationName;
  /** Changes with each change of the object: its uid and generation. */
  version: string;
  resourceVersion: string;
  /** The indices of those of its webhooks that call our Service. */
  webhooks: number[];
  /** Their caBundles, PEM, in the same order; undefined for one without. */
  bundles: (string | undefined)[];
}

/** All webhook configurations that were asked for. */
export interface Configurations {
  found: ConfigurationSnapshot[];
  /** Those that do not exist, or in which no webhook calls our Service, each with what is wrong. */
  absent: Map<string, string>;
  /** Those that could not be read, each with the error. */
  failed: Map<string, CniGateError>;
}

/** A write failed because the object was changed or deleted since it was read. */
export class Conflict extends Error {}

/** What replicas share through the API server. */
export type SharedObjects = Pick<ApiObjects, 'now' | 'secret' | 'write' | 'configurations' | 'trust'>;

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

/** The shared objects over the API of a cluster. Of webhook configurations it patches only our own caBundles. */
export class ApiObjects {
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

  /** The time by the API server's clock, which is the one that judges certificates. */
  now(): Date {
    return new Date(Date.now() + this.#client.clockSkew);
  }

  /** @throws CniGateError if it cannot be read */
  async secret(): Promise<SecretSnapshot | undefined> {
    try {
      return this.#snapshot(await this.#client.request('GET', this.#secretPath, { signal: this.#signal }));
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
      this.#last = undefined;
      return undefined;
    }
  }

  /**
   * Writes the Secret.
   *
   * @param over the Secret as it was read; undefined if there was none
   * @throws Conflict if another replica was faster; CniGateError CNI_GATE_TLS_SECRET if it may not be written
   */
  async write(data: SecretData, over: SecretSnapshot | undefined): Promise<SecretSnapshot> {
    const { namespace, secret: name } = this.#objects;
    const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    const { metadata = undefined, ...rest } = over ? (this.#last ?? {}) : {};
    // with uid and version the API server rejects it if it is another Secret, or another version of it
    const identity = over && { uid: over.uid, resourceVersion: over.version };
    const labels = { ...metadata?.labels, [certificatesLabel]: certificatesLabelValue };
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

  /** Reads the webhook configurations; what cannot be read is in the result. */
  async configurations(): Promise<Configurations> {
    const read: Configurations = { found: [], absent: new Map(), failed: new Map() };
    await Promise.all(this.#objects.configurations.map((wanted) => this.#readConfiguration(wanted, read)));
    return read;
  }

  /**
   * Writes a caBundle into our webhooks of a configuration.
   *
   * @throws Conflict if it was changed since; CniGateError CNI_GATE_CA_BUNDLE if it may not be written
   */
  async trust(configuration: ConfigurationSnapshot, bundle: string): Promise<void> {
    const value = Buffer.from(bundle).toString('base64');
    const body: PatchOperation[] = [
      // of another version than this the API server answers with 409, so the indices are right
      { op: 'replace', path: '/metadata/resourceVersion', value: configuration.resourceVersion },
      ...configuration.webhooks.map(
        (index): PatchOperation => ({ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value }),
      ),
    ];
    const options = { body, contentType: 'application/json-patch+json', signal: this.#signal };
    await conflicting(
      `cannot write the authorities into ${configuration.name}`,
      'CNI_GATE_CA_BUNDLE',
      [404, 409],
      () => this.#client.request('PATCH', pathOf(configuration.name), options),
    );
  }

  async #readConfiguration(
    name: ConfigurationName,
    { found, absent, failed }: Configurations,
  ): Promise<void> {
    const { namespace, service } = this.#objects;
    try {
      const read = await this.#client.request<Configuration>('GET', pathOf(name), { signal: this.#signal });
      const own = [...(read.webhooks ?? []).entries()].filter(([, webhook]) => calls(webhook, this.#objects));
      if (own.length === 0) {
        absent.set(name, `${name} has no webhook that calls the Service ${namespace}/${service}`);
        return;
      }
      found.push({
        name,
        version: `${read.metadata.uid}/${read.metadata.generation}`,
        resourceVersion: read.metadata.resourceVersion,
        webhooks: own.map(([index]) => index),
        bundles: own.map(([, { clientConfig }]) =>
          clientConfig.caBundle ? decoded(clientConfig.caBundle) : undefined,
        ),
      });
    } catch (error) {
      if (!(error instanceof CniGateError)) throw error;
      if (isStatus(error, 404))
        absent.set(name, `${name} does not exist, so the API server does not call it`);
      else failed.set(name, error);
    }
  }

  #snapshot(secret: Secret): SecretSnapshot {
    this.#last = secret;
    const { metadata, data } = secret;
    return {
      uid: metadata.uid,
      version: metadata.resourceVersion,
      labelled: metadata.labels?.[certificatesLabel] === certificatesLabelValue,
      data: Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, decoded(value)])),
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
 * The webhook configurations of a cluster in which a webhook calls our Service.
 *
 * @throws CniGateError if they may not be listed
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
        .map(({ metadata }): ConfigurationName => `${kind}/${metadata.name}`);
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

function pathOf(configuration: ConfigurationName): string {
  const [folder, name] = placeOf(configuration);
  return pathBelow(folder, name);
}

/** The folder of the API in which a webhook configuration is, and its name there. */
export function placeOf(configuration: ConfigurationName): [folder: string, name: string] {
  const [kind, name] = configuration.split('/') as [WebhookKind, string];
  return [configurationsPath(kind), name];
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString();

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
