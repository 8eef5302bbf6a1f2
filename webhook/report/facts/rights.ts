import type { ApiClient } from '../../cluster/client.ts';
import type { Right } from './needed-rights.ts';
import { type Observation, observe } from './observation.ts';
import { mapEach } from './reader.ts';

/** A right, and whether the one who was asked about has it. */
export interface RightFacts {
  right: Right;
  allowed: boolean;
}

interface Answer {
  status?: { allowed?: boolean } | null;
}

const folder = '/apis/authorization.k8s.io/v1';

/** Asks whether a service account has each of these rights, however they were given to it. */
export async function rightsOf(
  client: ApiClient,
  { namespace, name }: { namespace: string; name: string },
  rights: readonly Right[],
): Promise<Observation<RightFacts[]>> {
  const subject = {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
  const asked = mapEach(rights, (right) => ask(client, 'SubjectAccessReview', right, subject));
  return observe(asked, 'the rights of the service account');
}

/** Asks whether the caller has each of these rights. Everybody may ask that. */
export const ownRights = (client: ApiClient, rights: readonly Right[]): Promise<RightFacts[]> =>
  mapEach(rights, (right) => ask(client, 'SelfSubjectAccessReview', right));

async function ask(client: ApiClient, kind: string, right: Right, subject: object = {}): Promise<RightFacts> {
  const [resource, subresource] = right.resource.split('/');
  const resourceAttributes = { ...right, resource, ...(subresource && { subresource }) };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind, spec: { ...subject, resourceAttributes } };
  const { status } = await client.request<Answer>('POST', `${folder}/${kind.toLowerCase()}s`, { body });
  return { right, allowed: status?.allowed === true };
}
