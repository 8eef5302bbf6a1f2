import type { RightFacts } from './model.ts';
import { everything, type Right } from './needed-rights.ts';
import { type Observation, observe } from './observation.ts';
import { type ClusterReader, eachOf } from './reader.ts';

/** A service account. */
export interface Account {
  namespace: string;
  name: string;
}

interface Answer {
  status?: { allowed?: boolean } | null;
}

const folder = '/apis/authorization.k8s.io/v1';

/** Asks whether a service account has each of these rights, however they were given to it. */
export async function rightsOf(
  reader: ClusterReader,
  account: Account,
  rights: readonly Right[],
): Promise<Observation<RightFacts[]>> {
  const subject = {
    user: `system:serviceaccount:${account.namespace}:${account.name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`, 'system:authenticated'],
  };
  const path = `${folder}/subjectaccessreviews`;
  const ask = async (right: Right): Promise<RightFacts> =>
    askOne(reader, path, 'SubjectAccessReview', right, subject);
  return observe(askAll(rights, ask), 'the rights of the service account');
}

/** Asks whether the caller has each of these rights. Everybody may ask that. */
export async function ownRights(reader: ClusterReader, rights: readonly Right[]): Promise<RightFacts[]> {
  const ask = (right: Right): Promise<RightFacts> =>
    askOne(reader, `${folder}/selfsubjectaccessreviews`, 'SelfSubjectAccessReview', right);
  // who may do everything is asked once
  if ((await ask(everything)).allowed) return rights.map((right) => ({ right, allowed: true }));
  return askAll(rights, ask);
}

async function askAll(
  rights: readonly Right[],
  ask: (right: Right) => Promise<RightFacts>,
): Promise<RightFacts[]> {
  const answers = new Map<Right, RightFacts>();
  await eachOf(rights, async (right) => {
    answers.set(right, await ask(right));
  });
  return rights.flatMap((right) => answers.get(right) ?? []);
}

async function askOne(
  { client, signal }: ClusterReader,
  path: string,
  kind: string,
  right: Right,
  subject: object = {},
): Promise<RightFacts> {
  const [resource, subresource] = right.resource.split('/');
  const resourceAttributes = { ...right, resource, ...(subresource && { subresource }) };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind, spec: { ...subject, resourceAttributes } };
  const { status } = await client.request<Answer>('POST', path, { body, signal });
  return { right, allowed: status?.allowed === true };
}
