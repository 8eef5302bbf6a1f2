import type { Operation as PatchOperation } from 'fast-json-patch';
import { pathBelow } from '../kubernetes/api-path.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { configurationsPath, type WebhookKind } from '../kubernetes/webhook-configurations.ts';
import { CniGateError } from '../lib/errors.ts';
import { isStatus } from './secret.ts';
import { ChangedSince, type SeenConfiguration, type SeenConfigurations } from './shared.ts';

/** A webhook configuration to keep, and where it is. */
export interface ConfigurationName {
  kind: WebhookKind;
  name: string;
}

/** The Service by which our webhooks are called. */
export interface ServiceName {
  namespace: string;
  name: string;
}

/** What is read of a webhook configuration of the API. */
interface Configuration {
  metadata: { uid: string; resourceVersion: string; generation?: number };
  webhooks?: Webhook[] | null;
}

interface Webhook {
  name: string;
  clientConfig: { service?: ServiceName | null; caBundle?: string | null };
}

/** Our webhook configurations, read and patched over the API. Only the caBundle of our own webhooks is touched. */
export class ConfigurationObjects {
  readonly #client: ApiClient;
  readonly #names: readonly ConfigurationName[];
  readonly #service: ServiceName;
  readonly #signal: AbortSignal | undefined;

  /** @param signal ends every request */
  constructor(
    client: ApiClient,
    names: readonly ConfigurationName[],
    service: ServiceName,
    signal: AbortSignal | undefined,
  ) {
    this.#client = client;
    this.#signal = signal;
    this.#names = names;
    this.#service = service;
  }

  /** All of them; what cannot be read is said in the answer. */
  async read(): Promise<SeenConfigurations> {
    const seen: SeenConfigurations = {
      configurations: [],
      complete: true,
      absent: new Map(),
      failed: new Map(),
    };
    await Promise.all(this.#names.map((name) => this.#readOne(name, seen)));
    return seen;
  }

  async #readOne(configuration: ConfigurationName, seen: SeenConfigurations): Promise<void> {
    const name = `${configuration.kind}/${configuration.name}`;
    try {
      const found = await this.#client.request<Configuration>('GET', pathOf(configuration), {
        signal: this.#signal,
      });
      const one = this.#seen(name, found);
      if (one.webhooks.length > 0) seen.configurations.push(one);
      else {
        const { namespace, name: service } = this.#service;
        seen.absent.set(name, `${name} has no webhook that calls the Service ${namespace}/${service}`);
      }
    } catch (error) {
      if (isStatus(error, 404)) {
        seen.absent.set(name, `${name} does not exist: nothing calls cni-gate by it`);
        return;
      }
      if (!(error instanceof CniGateError)) throw error;
      seen.complete = false;
      seen.failed.set(name, error);
    }
  }

  /** @throws ChangedSince, CniGateError */
  async trust(seen: SeenConfiguration, bundle: string): Promise<void> {
    const [kind, name] = seen.name.split('/') as [ConfigurationName['kind'], string];
    const caBundle = Buffer.from(bundle).toString('base64');
    const body: PatchOperation[] = [
      // of another version than this the API server answers with 409, so the indices are right
      { op: 'replace', path: '/metadata/resourceVersion', value: seen.resourceVersion },
      ...seen.webhooks.map(
        (index): PatchOperation => ({
          op: 'add',
          path: `/webhooks/${index}/clientConfig/caBundle`,
          value: caBundle,
        }),
      ),
    ];
    try {
      const contentType = 'application/json-patch+json';
      await this.#client.request('PATCH', pathOf({ kind, name }), {
        body,
        contentType,
        signal: this.#signal,
      });
    } catch (error) {
      if (isStatus(error, 404) || isStatus(error, 409)) throw new ChangedSince();
      if (!(error instanceof CniGateError)) throw error;
      const message = `cannot put the authorities into ${seen.name}: ${error.message}`;
      throw new CniGateError('CNI_GATE_CA_BUNDLE', message, { cause: error });
    }
  }

  #seen(name: string, { metadata, webhooks }: Configuration): SeenConfiguration {
    const own = [...(webhooks ?? []).entries()].filter(([, { clientConfig }]) => {
      const { service } = clientConfig;
      return service?.namespace === this.#service.namespace && service.name === this.#service.name;
    });
    return {
      name,
      version: `${metadata.uid}/${metadata.generation}`,
      resourceVersion: metadata.resourceVersion,
      webhooks: own.map(([index]) => index),
      bundles: own.map(([, { clientConfig }]) =>
        clientConfig.caBundle ? Buffer.from(clientConfig.caBundle, 'base64').toString() : undefined,
      ),
    };
  }
}

function pathOf({ kind, name }: ConfigurationName): string {
  return pathBelow(configurationsPath(kind), name);
}
