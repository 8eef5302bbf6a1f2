import { apiPath } from '../kubernetes/api-path.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import type { ApiObject } from '../kubernetes/reflector/object.ts';
import { Reflector } from '../kubernetes/reflector/reflector.ts';
import { configurationsPath } from '../kubernetes/webhook-configurations.ts';
import type { ManagedObjects } from './over-api.ts';

/**
 * Tells when one of the objects has changed. Each is watched by its name, so that the right to watch can be held to
 * that name. It only says when to look: what is there is read then.
 */
export class Alarm {
  readonly #reflectors: Reflector<ApiObject, undefined>[];
  #changed = Promise.withResolvers<void>();

  constructor(client: ApiClient, { namespace, secret, configurations }: ManagedObjects) {
    const watched = [
      { path: apiPath`/api/v1/namespaces/${namespace}/secrets`, name: secret },
      ...configurations.map(({ kind, name }) => ({ path: configurationsPath(kind), name })),
    ];
    this.#reflectors = watched.map(({ path, name }) => {
      const query = { fieldSelector: `metadata.name=${name}` };
      const reflector = new Reflector<ApiObject, undefined>(client, {
        resource: path.split('/').at(-1) ?? path,
        path,
        query,
        pick: () => undefined,
      });
      reflector.subscribe(() => this.#changed.resolve());
      return reflector;
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run(signal)));
  }

  /** Resolves at the next change from now on. */
  arm(): Promise<void> {
    this.#changed = Promise.withResolvers();
    return this.#changed.promise;
  }
}
