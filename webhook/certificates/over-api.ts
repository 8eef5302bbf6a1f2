import type { SecretData } from '../../certs/managed/secret.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { type ConfigurationName, ConfigurationObjects, type ServiceName } from './configurations.ts';
import { SecretObject } from './secret.ts';
import type { SeenConfiguration, SeenConfigurations, SeenSecret, Shared } from './shared.ts';

/** Which objects of the cluster the managed certificates are about. */
export interface ManagedObjects {
  /** Our namespace: where the Secret and the Service are. */
  namespace: string;
  secret: string;
  service: string;
  configurations: readonly ConfigurationName[];
}

/** What replicas share, over the API of a cluster. */
export class SharedOverApi implements Shared {
  readonly #client: ApiClient;
  readonly #secret: SecretObject;
  readonly #configurations: ConfigurationObjects;
  readonly #clock: () => Date;

  /**
   * @param clock our own clock, the same that the client was given
   * @param signal ends every request
   */
  constructor(client: ApiClient, objects: ManagedObjects, clock: () => Date, signal?: AbortSignal) {
    this.#client = client;
    this.#clock = clock;
    this.#secret = new SecretObject(client, objects.namespace, objects.secret, signal);
    const service: ServiceName = { namespace: objects.namespace, name: objects.service };
    this.#configurations = new ConfigurationObjects(client, objects.configurations, service, signal);
  }

  secret(): Promise<SeenSecret | undefined> {
    return this.#secret.read();
  }

  write(data: SecretData, over: SeenSecret | undefined): Promise<SeenSecret> {
    return this.#secret.write(data, over);
  }

  configurations(): Promise<SeenConfigurations> {
    return this.#configurations.read();
  }

  trust(configuration: SeenConfiguration, bundle: string): Promise<void> {
    return this.#configurations.trust(configuration, bundle);
  }

  /** Our clock, put right by the API server's last answer. */
  now(): Date {
    return new Date(this.#clock().getTime() + this.#client.ahead);
  }
}
