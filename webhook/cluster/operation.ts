/** What a request asks of the API server, in the words of RBAC. */
export interface Operation {
  verb: string;
  /** With its subresource, as RBAC writes it: `pods/status`. Empty for paths that are no resource. */
  resource: string;
  /** Empty for the core group. */
  group: string;
  namespace?: string;
  name?: string;
}

const verbs: Record<string, [one: string, many: string]> = {
  GET: ['get', 'list'],
  POST: ['create', 'create'],
  PUT: ['update', 'update'],
  PATCH: ['patch', 'patch'],
  DELETE: ['delete', 'deletecollection'],
};

/** Subresources of a namespace itself; anything else below its name is a resource in it. */
const ofNamespaces = new Set(['status', 'finalize']);

/**
 * The operation that the API server derives from a request.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb
 */
export function operationOf(method: string, path: string, watch = false): Operation {
  const parts = path.split('/').filter((part) => part !== '');
  const core = parts[0] === 'api';
  if (!core && parts[0] !== 'apis')
    return { verb: method.toLowerCase(), resource: '', group: '', name: path };
  const group = core ? '' : (parts[1] ?? '');
  let rest = parts.slice(core ? 2 : 3);
  // what a group serves is no resource either
  if (rest.length === 0) return { verb: method.toLowerCase(), resource: '', group: '', name: path };
  let namespace: string | undefined;
  if (rest[0] === 'namespaces' && rest[2] !== undefined && !ofNamespaces.has(rest[2])) {
    namespace = rest[1];
    rest = rest.slice(2);
  }
  const [plural = '', name, subresource] = rest;
  const verb = verbs[method]?.[name === undefined ? 1 : 0] ?? method.toLowerCase();
  return {
    verb: watch ? 'watch' : verb,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    group,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  };
}

/** The operation in a sentence: `get secrets cni-gate-ca in namespace cni-gate`. */
export function describe({ verb, resource, group, namespace, name }: Operation): string {
  const what = [group === '' ? resource : `${resource}.${group}`, name].filter(Boolean).join(' ');
  return `${verb} ${what}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
}
