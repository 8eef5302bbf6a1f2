import type { Operation as PatchOperation } from 'fast-json-patch';
import { apiPath, configurationsPath, pathBelow, type WebhookKind } from '../webhook/cluster/api-path.ts';
import type { ApiClient } from '../webhook/cluster/client.ts';
import { ClusterError } from '../webhook/cluster/errors.ts';
import { CniGateError } from '../webhook/lib/errors.ts';
import { certificatesLabel, certificatesLabelValue } from '../webhook/lib/names.ts';

/** The data of a Secret as text, before it becomes base64. */
export type SecretData = Readonly<Record<string, string>>;

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
  /** As it was read: metadata of others is written back. */
  object?: Secret;
}

/** A webhook configuration as it was read. */
export interface ConfigurationSnapshot {
  name: ConfigurationName;
  /** Changes with each change of the object: its uid and generation. */
  version: string;
  resourceVersion: string;
  /** The indices of those of its webhooks that call our Service. */
  webhooks: number[];
  /** Their caBundles, PEM, in the same order; empty for one without. */
  bundles: string[];
}

/** The webhook configurations that were asked for. */
export interface Configurations {
  /** In the order of the request. */
  found: ConfigurationSnapshot[];
  /**
   * Why others are not in the list: CNI_GATE_CA_BUNDLE if one does not exist or none of its webhooks calls our Service,
   * otherwise why it could not be read.
   */
  faults: Map<ConfigurationName, CniGateError>;
}

/** Whether a write failed because the object was changed or created since it was read. */
export const isConflict = (error: unknown): boolean =>
  error instanceof CniGateError && error.code === 'CNI_GATE_CLUSTER_CONFLICT';

/** What replicas share through the API server. */
export type SharedObjects = ReturnType<typeof sharedObjects>;

interface Secret {
  type?: string;
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

/**
 * The shared objects over the API of a cluster. Of webhook configurations it patches only our own caBundles.
 *
 * @param signal ends every request
 */
export function sharedObjects(client: ApiClient, objects: ManagedObjects, signal?: AbortSignal) {
  const { namespace, service, secret: secretName } = objects;
  const folder = apiPath`/api/v1/namespaces/${namespace}/secrets`;
  const secretPath = pathBelow(folder, secretName);

  /** An object; undefined if it does not exist. */
  async function read<O>(path: string): Promise<O | undefined> {
    try {
      return await client.request<O>('GET', path, { signal });
    } catch (error) {
      if (error instanceof ClusterError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** @throws CniGateError CNI_GATE_CA_BUNDLE if the API server does not call us by it; others if it cannot be read */
  async function readConfiguration(name: ConfigurationName): Promise<ConfigurationSnapshot> {
    const found = await read<Configuration>(pathBelow(...placeOf(name)));
    const own = [...(found?.webhooks ?? []).entries()].filter(([, webhook]) => calls(webhook, objects));
    if (!found || own.length === 0) {
      const message = found
        ? `${name} has no webhook that calls the Service ${namespace}/${service}`
        : `${name} does not exist, so the API server does not call it`;
      throw new CniGateError('CNI_GATE_CA_BUNDLE', message);
    }
    return {
      name,
      version: `${found.metadata.uid}/${found.metadata.generation}`,
      resourceVersion: found.metadata.resourceVersion,
      webhooks: own.map(([index]) => index),
      bundles: own.map(([, { clientConfig }]) => decoded(clientConfig.caBundle ?? '')),
    };
  }

  return {
    /** The time by the API server's clock, which is the one that judges certificates. */
    now: () => new Date(Date.now() + client.clockSkew),

    /** @throws CniGateError if it cannot be read */
    async secret(): Promise<SecretSnapshot | undefined> {
      const found = await read<Secret>(secretPath);
      return found && snapshot(found);
    },

    /**
     * Writes the Secret.
     *
     * @param over the Secret as it was read; undefined if there was none
     * @throws CniGateError if it cannot be written: {@link isConflict} if another replica was faster
     */
    async write(data: SecretData, over: SecretSnapshot | undefined): Promise<SecretSnapshot> {
      const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
      const before = over?.object;
      const body = {
        apiVersion: 'v1',
        kind: 'Secret',
        // the API server requires `tls.crt` and `tls.key` in this type, which cannot be changed later
        type: 'kubernetes.io/tls',
        ...before,
        // the API server rejects the write if the uid or the resourceVersion in it has changed
        metadata: {
          namespace,
          name: secretName,
          ...before?.metadata,
          labels: { ...before?.metadata.labels, [certificatesLabel]: certificatesLabelValue },
        },
        data: Object.fromEntries(encoded),
      };
      const [method, path] = over ? (['PUT', secretPath] as const) : (['POST', folder] as const);
      return snapshot(await client.request(method, path, { body, signal }));
    },

    /** Reads the webhook configurations; what cannot be read is in the result. */
    async configurations(): Promise<Configurations> {
      const faults: Configurations['faults'] = new Map();
      const all = objects.configurations.map((name) =>
        readConfiguration(name).catch((error: unknown) => {
          if (!(error instanceof CniGateError)) throw error;
          faults.set(name, error);
        }),
      );
      // in the order of the request: the time of trust is measured by it
      return { found: (await Promise.all(all)).filter((each) => each !== undefined), faults };
    },

    /**
     * Writes a caBundle into our webhooks of a configuration.
     *
     * @throws CniGateError if it cannot be written: {@link isConflict} if it was changed since
     */
    async trust(configuration: ConfigurationSnapshot, bundle: string): Promise<void> {
      const value = Buffer.from(bundle).toString('base64');
      const body: PatchOperation[] = [
        // if the version has changed, the API server answers with 409, so the indices are right
        { op: 'replace', path: '/metadata/resourceVersion', value: configuration.resourceVersion },
        ...configuration.webhooks.map(
          (index): PatchOperation => ({ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value }),
        ),
      ];
      const options = { body, contentType: 'application/json-patch+json', signal };
      await client.request('PATCH', pathBelow(...placeOf(configuration.name)), options);
    },
  };
}

const snapshot = (object: Secret): SecretSnapshot => ({
  uid: object.metadata.uid,
  version: object.metadata.resourceVersion,
  labelled: object.metadata.labels?.[certificatesLabel] === certificatesLabelValue,
  data: Object.fromEntries(Object.entries(object.data ?? {}).map(([key, value]) => [key, decoded(value)])),
  object,
});

const calls = (
  { clientConfig }: Webhook,
  { namespace, service }: Pick<ManagedObjects, 'namespace' | 'service'>,
): boolean => clientConfig.service?.namespace === namespace && clientConfig.service.name === service;

/** The folder of the API in which a webhook configuration is, and its name there. */
export function placeOf(configuration: ConfigurationName): [folder: string, name: string] {
  const [kind, name] = configuration.split('/') as [WebhookKind, string];
  return [configurationsPath(kind), name];
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString();
