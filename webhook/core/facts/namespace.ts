import { getOwn } from '../../lib/maps.ts';
import { optOutValue, profileLabel } from '../../lib/names.ts';

/** What admission needs to know about a namespace. */
export interface NamespaceFacts {
  /** All labels, because the `when` of a profile may name any of them. */
  labels: Record<string, string>;
  /** The annotations that {@link annotationsOf} keeps; absent if it keeps none. */
  annotations?: Record<string, string>;
}

/**
 * The profile that a namespace opted in to by its label; undefined if it did not opt in. An empty label and `none` do
 * not opt in, but the API server still calls the webhooks, because it selects namespaces by the label's key.
 */
export function optedInTo(namespaceLabels: Record<string, string>): string | undefined {
  const profile = getOwn(namespaceLabels, profileLabel);
  return profile === '' || profile === optOutValue ? undefined : profile;
}

const mostAnnotations = 64;

/**
 * Matches the annotation values that profiles can read from namespaces: ids, port lists and subnet lists. No other
 * values are kept. The mutating policy uses the same pattern, in RE2.
 */
export const readable = /^[+0-9a-fA-F][-0-9 \t\n,.:/a-fA-F]{0,511}$/;

export function annotationsOf(
  all: Record<string, unknown> | null | undefined,
): Pick<NamespaceFacts, 'annotations'> {
  const kept = Object.entries(all ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && readable.test(entry[1]),
  );
  if (kept.length === 0) return {};
  return { annotations: Object.fromEntries(kept.slice(0, mostAnnotations)) };
}

/** A source of namespaces' labels and annotations. If it asks the API server, the result is a promise. */
export interface Namespaces {
  /** Undefined if the namespace does not exist, as far as the source knows. */
  facts(name: string): NamespaceFacts | undefined | Promise<NamespaceFacts | undefined>;
}

/** Namespaces that are all known from the start, such as those in a file. */
export class FixedNamespaces implements Namespaces {
  readonly facts: (name: string) => NamespaceFacts | undefined;
  /** @param profile if given, replaces the label of every namespace, even of an unknown one */
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
