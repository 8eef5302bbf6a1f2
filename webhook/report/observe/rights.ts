import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { V1Role, V1SelfSubjectAccessReview } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import type { ApiClient } from '../../cluster/client.ts';
import type { Policy } from '../../core/profiles/policy.ts';
import { mapEach } from './observation.ts';

/** The folder with this release's manifests, in the published bundle or else in the sources. */
const folder = ['./manifests/', '../../../manifests/base/']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url));

/** The objects in a file of the manifests. @param file the file's name without `.yaml` */
// biome-ignore lint/suspicious/noExplicitAny: objects of many kinds, read by their paths
export const objectsIn = (file: string): any[] =>
  parseAllDocuments(readFileSync(new URL(`${file}.yaml`, folder), 'utf8')).map((document) => document.toJS());

/** An RBAC right: one verb on one resource. */
export interface Right {
  verb: string;
  group: string;
  /** May name a subresource, as in `pods/status`. */
  resource: string;
  /** Absent if the right is for all objects. */
  name?: string;
  /** Absent if the right is for all namespaces, or the resource is not namespaced. */
  namespace?: string;
}

/** How many rights were asked for, and those that are missing, as texts. */
export interface RightsFacts {
  asked: number;
  missing: string[];
}

/** Describes a right for a message. */
export function rightText({ verb, group, resource, name, namespace }: Right): string {
  const what = [group === '' ? resource : `${resource}.${group}`, name].filter(Boolean).join(' ');
  return `${verb} ${what}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
}

/**
 * The rights of the manifests that the service account needs for the features that the configuration turns on.
 *
 * @param secret the Secret of the managed certificates; undefined where the certificates come from elsewhere
 */
export function serverRights(
  namespace: string,
  policy: Pick<Policy, 'steer' | 'repair'>,
  secret: string | undefined,
): Right[] {
  const rightsIn = ({ metadata, rules = [] }: Pick<V1Role, 'metadata' | 'rules'>): Right[] =>
    rules.flatMap(({ apiGroups: [group = ''] = [], resources = [], resourceNames = [''], verbs }) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((given) => {
          const name = given && resource === 'secrets' ? (secret ?? given) : given;
          const scope = { ...(name && { name }), ...(metadata?.namespace && { namespace }) };
          return verbs.map((verb) => ({ verb, group, resource, ...scope }));
        }),
      ),
    );
  const isNeeded = ({ verb, group, resource }: Right): boolean => {
    if (resource === 'pods/status') return policy.steer.mode !== 'off';
    if (/^(replica|stateful)sets$/.test(resource) || (resource === 'pods' && /delete|patch/.test(verb)))
      return policy.repair.mode === 'recreate';
    return secret !== undefined || (resource !== 'secrets' && group !== 'admissionregistration.k8s.io');
  };
  return objectsIn('rights').flatMap(rightsIn).filter(isNeeded);
}

/** The rights that are needed to run `kubectl apply` with the manifests. */
export function installRights(): Right[] {
  const files = readdirSync(folder ?? '').filter((file) => /(?<!kustomization)\.yaml$/.test(file));
  const objects = files.flatMap((file) => objectsIn(file.replace('.yaml', '')));
  const kinds = new Map(
    objects.flatMap((object) => (object?.kind ? [[object.kind, object.apiVersion]] : [])),
  );
  return [...kinds].flatMap(([kind, apiVersion]) => {
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
    const resource = `${kind.toLowerCase().replace(/y$/, 'ie')}s`;
    return ['create', 'patch'].map((verb) => ({ verb, group, resource }));
  });
}

/**
 * Asks the API server which of these rights an account has, from any role and binding.
 *
 * @param account a service account; undefined for the caller, who needs no right to ask about itself
 */
export async function rightsOf(
  client: ApiClient,
  rights: readonly Right[],
  account?: { namespace: string; name: string },
): Promise<RightsFacts> {
  const kind = account ? 'SubjectAccessReview' : 'SelfSubjectAccessReview';
  const subject = account && {
    user: `system:serviceaccount:${account.namespace}:${account.name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`, 'system:authenticated'],
  };
  const missing = await mapEach(rights, async (right) => {
    const [resource, subresource] = right.resource.split('/');
    const resourceAttributes = { ...right, resource, ...(subresource && { subresource }) };
    const body = { apiVersion: 'authorization.k8s.io/v1', kind, spec: { ...subject, resourceAttributes } };
    const path = `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`;
    const { status } = await client.request<V1SelfSubjectAccessReview>('POST', path, { body });
    return status?.allowed === true ? [] : rightText(right);
  });
  return { asked: rights.length, missing: missing.flat() };
}
