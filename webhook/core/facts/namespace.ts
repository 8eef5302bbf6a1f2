import { getOwn } from '../../lib/maps.ts';
import { optOutValue, profileLabel } from '../../lib/names.ts';

/** What admission needs to know about a namespace. */
export interface NamespaceFacts {
  /** All labels: the `when` of a profile may read any. */
  labels: Record<string, string>;
  /** Absent where there are none: see {@link annotationsOf}. */
  annotations?: Record<string, string>;
}

/**
 * The profile that a namespace opted in to by its label; undefined if it did not. An empty label and `none` are no
 * opt-in: the API server calls the webhooks for both, because it selects namespaces by the key of the label alone.
 */
export function optedInTo(namespaceLabels: Record<string, string>): string | undefined {
  const profile = getOwn(namespaceLabels, profileLabel);
  return profile === '' || profile === optOutValue ? undefined : profile;
}

const mostAnnotations = 64;

/** The annotations that an `IdSource` of any profile can read, now or after a reload: those with a number. */
export function annotationsOf(
  all: Record<string, unknown> | null | undefined,
): Pick<NamespaceFacts, 'annotations'> {
  const numbers = Object.entries(all ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && /^\+?\d{1,20}$/.test(entry[1]),
  );
  if (numbers.length === 0) return {};
  return { annotations: Object.fromEntries(numbers.slice(0, mostAnnotations)) };
}

/** Labels and annotations of namespaces. An implementation that has to ask the API server returns a promise. */
export interface Namespaces {
  /** Undefined where the namespace does not exist, as far as the source knows. */
  facts(name: string): NamespaceFacts | undefined | Promise<NamespaceFacts | undefined>;
}

/** Namespaces that are known from the start, such as those of a file. */
export class FixedNamespaces implements Namespaces {
  readonly facts: (name: string) => NamespaceFacts | undefined;
  /** @param profile of every namespace, known or not, instead of its label */
  constructor(
    labels: ReadonlyMap<string, Record<string, string>>,
    profile?: string,
    annotations: ReadonlyMap<string, Record<string, string>> = new Map(),
  ) {
    this.facts = (name) => {
      const given = labels.get(name);
      const known = given && annotationsOf(annotations.get(name));
      if (profile !== undefined) return { labels: { ...given, [profileLabel]: profile }, ...known };
      return given && { labels: given, ...known };
    };
  }
}
