/** What every object of the API carries, as far as it is read here. */
export interface ApiObject {
  metadata: Metadata;
}

/** The part of an object's metadata that is read. */
export interface Metadata {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string> | null;
}

/** An object in the store: its identity, and of its content what was picked. */
export interface Entry<T> {
  key: string;
  /** A name is not an identity: the same name with another uid is another object. */
  uid: string;
  resourceVersion: string;
  object: T;
}

/** `namespace/name`, or the name alone where the kind has no namespaces. */
export const keyOf = ({ namespace, name }: Pick<Metadata, 'namespace' | 'name'>): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** Whether a value has what {@link pickEntry} needs: nothing else of the API's answers is taken on trust. */
export function isApiObject(value: unknown): value is ApiObject {
  if (typeof value !== 'object' || value === null || !('metadata' in value)) return false;
  const { metadata } = value;
  return (
    typeof metadata === 'object' &&
    metadata !== null &&
    ['name', 'uid', 'resourceVersion'].every(
      (key) => typeof (metadata as Record<string, unknown>)[key] === 'string',
    )
  );
}

const pair = /"(\w+)":"([^"\\]*)"/g;
const beginning =
  /^\s*\{(?:"(?:kind|apiVersion)":"[^"\\]*",){0,2}"metadata":\{((?:"\w+":"[^"\\]*"(?:,|\}))*)/;

/**
 * Who an object is, read from the beginning of its JSON; undefined where it does not begin as the API server writes it:
 * `metadata` first, and in it the names, the UID and the version before all that is long. Source: Kubernetes, the order
 * of fields in `ObjectMeta`, which is the order in which they are written.
 *
 * @param head the JSON, which may be cut anywhere
 */
export function identityIn(head: string): Metadata | undefined {
  const pairs = Array.from((beginning.exec(head)?.[1] ?? '').matchAll(pair), ([, key = '', value = '']) => [
    key,
    value,
  ]);
  const { name, namespace, uid, resourceVersion } = Object.fromEntries(pairs);
  if (!name || !uid || !resourceVersion) return undefined;
  return { name, uid, resourceVersion, ...(namespace && { namespace }) };
}
