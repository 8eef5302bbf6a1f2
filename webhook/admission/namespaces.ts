import { profileLabel } from '../names.ts';
import type { NamespaceFacts } from './decide.ts';

/**
 * Where the labels of namespaces come from: the request does not carry them. A source that has to ask somebody
 * returns a promise and gives up when the signal is aborted; one that knows answers at once.
 */
export interface Namespaces {
  /** The namespace's facts, or undefined where there is no such namespace as far as the source can tell. */
  facts(name: string, signal?: AbortSignal): NamespaceFacts | undefined | Promise<NamespaceFacts | undefined>;
}

/** Namespaces that were read from somewhere once. */
export class KnownNamespaces implements Namespaces {
  readonly #labels: ReadonlyMap<string, Record<string, string>>;
  readonly #profile: string | undefined;

  /**
   * @param labels labels by namespace
   * @param profile opts every namespace in, whether it is known or not, in place of its own profile label
   */
  constructor(labels: ReadonlyMap<string, Record<string, string>>, profile?: string) {
    this.#profile = profile;
    this.#labels = new Map([...labels].map(([name, own]) => [name, this.#override(own)]));
  }

  facts(name: string): NamespaceFacts | undefined {
    const labels = this.#labels.get(name);
    if (labels !== undefined) return { labels };
    return this.#profile === undefined ? undefined : { labels: this.#override({}) };
  }

  #override(labels: Record<string, string>): Record<string, string> {
    return this.#profile === undefined ? labels : { ...labels, [profileLabel]: this.#profile };
  }
}
