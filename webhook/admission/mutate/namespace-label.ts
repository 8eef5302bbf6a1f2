import { type Policy, UnknownProfile } from '../../config/policy.ts';
import { quoted } from '../../lib/clean.ts';
import { CniGateError, type ErrorCode, errorPage } from '../../lib/errors.ts';
import { profileLabel } from '../../lib/names.ts';
import { type AdmissionDecision, allowed, errored } from '../decision.ts';
import { describe, invalid, isCoreKind, isObject, openEnvelope, wrongKind } from '../envelope.ts';
import { optedInTo } from './profile-selection.ts';

/** The API server's request for a namespace that is created or labelled. */
export interface NamespaceRequest {
  uid: string;
  /** The namespace's name. */
  namespace: string;
  operation: string;
  dryRun: boolean;
  /** The profile that it opts in to; undefined if it does not. */
  profile: string | undefined;
}

/** The decision about a namespace, which is never refused and never changed. */
export type NamespaceDecision = AdmissionDecision<
  'allowed' | 'warned' | 'skipped',
  'profile-known' | 'not-opted-in' | ErrorCode
>;

/**
 * Answers the body of an admission call for a namespace. Warns if its label names no profile, or profiles that cannot
 * be joined, so that the user learns of it before the first pod is refused.
 *
 * @throws CniGateError CNI_GATE_REVIEW_INVALID or CNI_GATE_REVIEW_KIND if the body is not a review of a namespace
 */
export function reviewNamespace(
  body: unknown,
  policy: Policy,
): { request: NamespaceRequest; decision: NamespaceDecision } {
  const request = decodeNamespaceRequest(body);
  return { request, decision: decideNamespace(request, policy) };
}

function decodeNamespaceRequest(body: unknown): NamespaceRequest {
  const envelope = openEnvelope(body);
  const { uid, operation, dryRun, name, object, kind } = envelope;
  if (!isCoreKind(envelope, 'Namespace')) {
    throw wrongKind('Namespace', kind);
  }
  if (!isObject(object)) throw invalid(`request.object should be the namespace, is ${describe(object)}`);
  const { labels, ...metadata } = isObject(object.metadata) ? object.metadata : {};
  // a namespace that is created with generateName has no name yet
  const given = [name, metadata.name, metadata.generateName].find(
    (text): text is string => typeof text === 'string' && text !== '',
  );
  return { uid, operation, dryRun, namespace: quoted(given ?? ''), profile: optedInTo(textsOf(labels)) };
}

/** The labels that are strings: the API server accepts no others. */
function textsOf(labels: unknown): Record<string, string> {
  const entries = isObject(labels) ? Object.entries(labels) : [];
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function decideNamespace({ namespace, profile }: NamespaceRequest, policy: Policy): NamespaceDecision {
  if (profile === undefined) return allowed('skipped', 'not-opted-in');
  try {
    const { name, profiles } = policy.combineProfiles(profile);
    return allowed('allowed', 'profile-known', { profile: name, profiles: profiles.map((one) => one.name) });
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    const what =
      policy.proof.mode === 'enforce' ? 'no pod can be created' : 'pods are created without a proof';
    return errored(error.code, [
      ...faultOf(error),
      `${what} in namespace ${namespace} while its label ${profileLabel} is wrong`,
      `see ${errorPage(error.code)}`,
    ]);
  }
}

/** The fault, split into short warnings. */
function faultOf(error: CniGateError): string[] {
  if (!(error instanceof UnknownProfile)) return [`${error.code}: ${error.message}`];
  return [`${error.code}: ${error.brief}`, `the configuration has: ${error.known.join(', ')}`];
}
