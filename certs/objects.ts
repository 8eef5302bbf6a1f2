import type { Operation as PatchOperation } from 'fast-json-patch';
import { apiPath, pathBelow } from '../webhook/cluster/api-path.ts';
import type { ApiClient } from '../webhook/cluster/client.ts';
import { CniGateError } from '../webhook/lib/errors.ts';
import {
  certificatesLabel,
  certificatesLabelValue,
  installedService,
  webhookConfiguration,
} from '../webhook/lib/names.ts';

/** The data of a Secret as text, decoded from base64. */
export type SecretData = Readonly<Record<string, string>>;

/** The webhook configurations whose caBundle is maintained: their names in messages and metrics, and their paths. */
const configurationPaths = ['mutating', 'validating'].map((kind) => {
  const list = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`;
  return [`${kind}/${webhookConfiguration}`, pathBelow(list, webhookConfiguration)] as const;
});

export interface SecretSnapshot {
  /** Whether the Secret has {@link certificatesLabel}. */
  labelled: boolean;
  /** Bytes that are not UTF-8 become replacement characters. */
  data: SecretData;
  /** The whole Secret, so that its other metadata is written back unchanged. */
  object: Secret;
}

export interface ConfigurationSnapshot {
  name: string;
  path: string;
  resourceVersion: string;
  /** The indices of the webhooks that call our Service. */
  webhooks: number[];
  bundles: string[];
}

export interface Configurations {
  found: ConfigurationSnapshot[];
  /** Why a configuration is not in `found`. CNI_GATE_CA_BUNDLE: missing, or it does not call our Service. */
  faults: Map<string, CniGateError>;
}

/** Whether a write failed because the object was changed or created since it was read. */
export const isConflict = (error: unknown): boolean =>
  error instanceof CniGateError && error.code === 'CNI_GATE_CLUSTER_CONFLICT';

export type SharedObjects = ReturnType<typeof sharedObjects>;

interface Secret {
  type?: string;
  metadata: { uid: string; resourceVersion: string; labels?: Record<string, string> | null };
  data?: Record<string, string> | null;
}

interface Configuration {
  metadata: { resourceVersion: string };
  webhooks?:
    | {
        clientConfig: { service?: { namespace: string; name: string } | null; caBundle?: string | null };
      }[]
    | null;
}

/**
 * Reads and writes the shared objects through the API of a cluster.
 * @param namespace the namespace of the Secret and the Service
 * @param signal aborts every request
 */
export function sharedObjects(
  client: ApiClient,
  namespace: string,
  secretName: string,
  signal?: AbortSignal,
) {
  const folder = apiPath`/api/v1/namespaces/${namespace}/secrets`;
  const secretPath = pathBelow(folder, secretName);

  /** @throws CniGateError CNI_GATE_CA_BUNDLE if the configuration has no webhook that calls our Service */
  async function readConfiguration(name: string, path: string): Promise<ConfigurationSnapshot> {
    const found = await client.get<Configuration>(path, { signal });
    const own = [...(found?.webhooks ?? []).entries()].filter(
      ([, { clientConfig }]) =>
        clientConfig.service?.namespace === namespace && clientConfig.service.name === installedService,
    );
    if (!found || own.length === 0) {
      const message = found
        ? `${name} has no webhook that calls the Service ${namespace}/${installedService}`
        : `${name} does not exist, so the API server does not call it`;
      throw new CniGateError('CNI_GATE_CA_BUNDLE', message);
    }
    return {
      name,
      path,
      resourceVersion: found.metadata.resourceVersion,
      webhooks: own.map(([index]) => index),
      bundles: own.map(([, { clientConfig }]) => decoded(clientConfig.caBundle ?? '')),
    };
  }

  return {
    /** The current time of the API server's clock, against which the API server checks certificates. */
    now: () => new Date(Date.now() + client.clockSkew),

    async secret(): Promise<SecretSnapshot | undefined> {
      const found = await client.get<Secret>(secretPath, { signal });
      return found && snapshot(found);
    },

    /** @throws CniGateError if the write fails or another replica wrote first ({@link isConflict}) */
    async write(data: SecretData, over: SecretSnapshot | undefined): Promise<SecretSnapshot> {
      const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
      const before = over?.object;
      const body = {
        apiVersion: 'v1',
        kind: 'Secret',
        // a Secret of this type must have `tls.crt` and `tls.key`
        type: 'kubernetes.io/tls',
        ...before,
        // the API server rejects the write if the uid or the resourceVersion has changed
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

    /** Reads the webhook configurations. If a configuration cannot be read, `faults` has the reason. */
    async configurations(): Promise<Configurations> {
      const faults: Configurations['faults'] = new Map();
      const all = configurationPaths.map(([name, path]) =>
        readConfiguration(name, path).catch((error: unknown) => {
          if (!(error instanceof CniGateError)) throw error;
          faults.set(name, error);
        }),
      );
      return { found: (await Promise.all(all)).filter((each) => each !== undefined), faults };
    },

    async trust(configuration: ConfigurationSnapshot, bundle: string): Promise<void> {
      const value = Buffer.from(bundle).toString('base64');
      const body: PatchOperation[] = [
        // the API server returns 409 if the object has changed since it was read, so the indices are still right
        { op: 'replace', path: '/metadata/resourceVersion', value: configuration.resourceVersion },
        ...configuration.webhooks.map(
          (index): PatchOperation => ({ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value }),
        ),
      ];
      const options = { body, contentType: 'application/json-patch+json', signal };
      await client.request('PATCH', configuration.path, options);
    },
  };
}

const snapshot = (object: Secret): SecretSnapshot => ({
  labelled: object.metadata.labels?.[certificatesLabel] === certificatesLabelValue,
  data: Object.fromEntries(Object.entries(object.data ?? {}).map(([key, value]) => [key, decoded(value)])),
  object,
});

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString();
