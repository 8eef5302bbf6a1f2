import { profileLabel } from '../lib/names.ts';

/** What decisions rest on of a namespace. */
export interface NamespaceFacts {
  /** All of them: a profile's `when` may ask for any. */
  labels: Record<string, string>;
  /** Those that {@link annotationsOf} keeps; absent where there are none. */
  annotations?: Record<string, string>;
}

/** How many annotations of a namespace are kept. */
const mostAnnotations = 64;

/**
 * The annotations of a namespace that an `IdSource` of a profile can be read from: those that hold a number. Profiles
 * change while a server runs and what was kept of a namespace does not, so this does not look at which ones they name.
 */
export function annotationsOf(
  all: Record<string, unknown> | null | undefined,
): Pick<NamespaceFacts, 'annotations'> {
  const numbers = Object.entries(all ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && /^\+?\d{1,20}$/.test(entry[1]),
  );
  if (numbers.length === 0) return {};
  return { annotations: Object.fromEntries(numbers.slice(0, mostAnnotations)) };
}

/**
 * Where the labels of namespaces come from: the request does not carry them. A source that has to ask somebody
 * returns a promise; one that knows answers at once.
 */
export interface Namespaces {
  /**
   * The namespace's facts, or undefined where there is no such namespace as far as the source can tell.
   *
   * @param caller address of who wants to know: callers share what may be asked
   */
  facts(name: string, caller?: string): NamespaceFacts | undefined | Promise<NamespaceFacts | undefined>;
}

/** Namespaces that were read from somewhere once. */
export class FixedNamespaces implements Namespaces {
  readonly #labels: ReadonlyMap<string, Record<string, string>>;
  readonly #annotations: ReadonlyMap<string, Record<string, string>>;
  readonly #profile: string | undefined;

  /**
   * @param labels labels by namespace
   * @param profile opts every namespace in, whether it is known or not, in place of its own profile label
   * @param annotations annotations by namespace
   */
  constructor(
    labels: ReadonlyMap<string, Record<string, string>>,
    profile?: string,
    annotations: ReadonlyMap<string, Record<string, string>> = new Map(),
  ) {
    this.#profile = profile;
    this.#labels = new Map([...labels].map(([name, own]) => [name, this.#override(own)]));
    this.#annotations = annotations;
  }

  facts(name: string): NamespaceFacts | undefined {
    const labels = this.#labels.get(name);
    if (labels !== undefined) return { labels, ...annotationsOf(this.#annotations.get(name)) };
    return this.#profile === undefined ? undefined : { labels: this.#override({}) };
  }

  #override(labels: Record<string, string>): Record<string, string> {
    return this.#profile === undefined ? labels : { ...labels, [profileLabel]: this.#profile };
  }
}
