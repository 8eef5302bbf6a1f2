import type { NamespaceFacts } from '../../admission/decide.ts';
import type { Asked } from '../lookup.ts';
import type { Source } from '../reflector/list-all.ts';
import type { ApiObject } from '../reflector/object.ts';

export type NamespaceObject = ApiObject;

const namespacesPath = '/api/v1/namespaces';

/** What decisions need of a namespace. All of its labels: a profile's `when` may ask for any. */
const pickFacts = ({ metadata }: NamespaceObject): NamespaceFacts => ({
  labels: metadata.labels ?? {},
});

/** A namespace by its name, where the reflector has not heard of it. */
export const namespaceByName: Asked<NamespaceObject, NamespaceFacts> = {
  path: (name) => `${namespacesPath}/${encodeURIComponent(name)}`,
  pick: pickFacts,
};

/** The namespaces of a cluster, for a reflector. */
export const namespaceSource: Source<NamespaceObject, NamespaceFacts> = {
  resource: 'namespaces',
  path: namespacesPath,
  pick: pickFacts,
};
