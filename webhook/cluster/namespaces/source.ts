import { annotationsOf, type NamespaceFacts } from '../../admission/namespaces.ts';
import { pathBelow } from '../api-path.ts';
import type { Asked } from '../lookup.ts';
import type { Source } from '../reflector/list-all.ts';
import type { ApiObject } from '../reflector/object.ts';

export type NamespaceObject = ApiObject;

const namespacesPath = '/api/v1/namespaces';

const pickFacts = ({ metadata }: NamespaceObject): NamespaceFacts => ({
  labels: metadata.labels ?? {},
  ...annotationsOf(metadata.annotations),
});

/** A namespace by its name, where the reflector has not heard of it. */
export const namespaceByName: Asked<NamespaceObject, NamespaceFacts> = {
  path: (name) => pathBelow(namespacesPath, name),
  pick: pickFacts,
};

/** The namespaces of a cluster, for a reflector. */
export const namespaceSource: Source<NamespaceObject, NamespaceFacts> = {
  resource: 'namespaces',
  path: namespacesPath,
  pick: pickFacts,
};
