import { type SecretData, secretType } from '../../certs/managed/secret.ts';
import { apiPath, pathBelow } from '../kubernetes/api-path.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { ClusterError } from '../kubernetes/errors.ts';
import { CniGateError } from '../lib/errors.ts';
import { certificatesLabel, certificatesLabelValue } from '../lib/names.ts';
import { ChangedSince, type SeenSecret } from './shared.ts';

/** What is read of a Secret of the API. */
interface Secret {
  metadata: {
    uid: string;
    resourceVersion: string;
    labels?: Record<string, string> | null;
    [field: string]: unknown;
  };
  data?: Record<string, string> | null;
  [field: string]: unknown;
}

/** The Secret of the managed certificates, read and written over the API. */
export class SecretObject {
  readonly #client: ApiClient;
  readonly #namespace: string;
  readonly #name: string;
  readonly #signal: AbortSignal | undefined;
  /** As last read, with what is not ours in it: that is written back as it was. */
  #last: Secret | undefined;

  /** @param signal ends every request */
  constructor(client: ApiClient, namespace: string, name: string, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#signal = signal;
    this.#namespace = namespace;
    this.#name = name;
  }

  /** @throws CniGateError where it cannot be read; that there is none is no error */
  async read(): Promise<SeenSecret | undefined> {
    try {
      return this.#seen(await this.#client.request<Secret>('GET', this.#path, { signal: this.#signal }));
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
      this.#last = undefined;
      return undefined;
    }
  }

  /** @throws ChangedSince, CniGateError */
  async write(data: SecretData, over: SeenSecret | undefined): Promise<SeenSecret> {
    try {
      return over ? await this.#replace(data, over) : await this.#create(data);
    } catch (error) {
      if (isStatus(error, 409) || (over && isStatus(error, 404))) throw new ChangedSince();
      if (!(error instanceof CniGateError)) throw error;
      const message = `cannot write the Secret ${this.#namespace}/${this.#name}: ${error.message}`;
      throw new CniGateError('CNI_GATE_TLS_SECRET', message, { cause: error });
    }
  }

  async #create(data: SecretData): Promise<SeenSecret> {
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        namespace: this.#namespace,
        name: this.#name,
        labels: { [certificatesLabel]: certificatesLabelValue },
      },
      type: secretType,
      data: encode(data),
    };
    return this.#seen(
      await this.#client.request<Secret>('POST', this.#folder, { body, signal: this.#signal }),
    );
  }

  async #replace(data: SecretData, over: SeenSecret): Promise<SeenSecret> {
    const { metadata, ...rest } = this.#last ?? { metadata: {} };
    const labels = { ...metadata.labels, [certificatesLabel]: certificatesLabelValue };
    const body = {
      ...rest,
      // with both the API server refuses it where it is another Secret, or another version of it
      metadata: { ...metadata, labels, uid: over.uid, resourceVersion: over.version },
      data: encode(data),
    };
    return this.#seen(await this.#client.request<Secret>('PUT', this.#path, { body, signal: this.#signal }));
  }

  #seen(secret: Secret): SeenSecret {
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
    return apiPath`/api/v1/namespaces/${this.#namespace}/secrets`;
  }

  get #path(): string {
    return pathBelow(this.#folder, this.#name);
  }
}

/** Whether the API server answered with an HTTP status. */
export function isStatus(error: unknown, status: number): boolean {
  return error instanceof ClusterError && error.status === status;
}

function encode(data: SecretData): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
}
