import { optedInTo } from '../core/facts/namespace.ts';
import { combinedOf, type Policy } from '../core/profiles/policy.ts';
import { quoted } from '../lib/clean.ts';
import { CniGateError, type ErrorCode, errorPage } from '../lib/errors.ts';
import { isObject } from '../lib/json.ts';
import { profileLabel } from '../lib/names.ts';
import { type AdmissionDecision, decision } from './respond.ts';
import { openEnvelope, type RequestHead } from './review.ts';

/** The API server's request about a namespace that is created or labelled. `namespace` is the namespace's name. */
export type NamespaceRequest = Omit<RequestHead, 'name' | 'subResource'>;

/** The decision about a namespace, which is never refused and never changed. */
export type NamespaceDecision = AdmissionDecision<
  'allowed' | 'warned' | 'skipped',
  'profile-known' | 'not-opted-in' | ErrorCode
>;

/**
 * Warns if the label of a namespace names no profile, or profiles that cannot be combined.
 * @throws CniGateError CNI_GATE_REVIEW_INVALID or CNI_GATE_REVIEW_KIND if the body is not a review of a namespace
 */
export function reviewNamespace(
  body: unknown,
  policy: Policy,
): { request: NamespaceRequest; decision: NamespaceDecision } {
  const { uid, operation, dryRun, name, object } = openEnvelope(body, 'Namespace');
  const namespace = quoted(name || '*');
  const labels = isObject(object.metadata) ? object.metadata.labels : undefined;
  const label = isObject(labels) ? labels[profileLabel] : undefined;
  const profile = typeof label === 'string' ? optedInTo({ [profileLabel]: label }) : undefined;
  return { request: { uid, operation, dryRun, namespace }, decision: decide(namespace, profile, policy) };
}

function decide(namespace: string, profile: string | undefined, policy: Policy): NamespaceDecision {
  if (profile === undefined) return decision('skipped', 'not-opted-in');
  const combined = combinedOf(policy, profile);
  if (!(combined instanceof CniGateError)) {
    const profiles = combined.map(({ name }) => name);
    return decision('allowed', 'profile-known', { profile, profiles });
  }
  const { code, message } = combined;
  const effect =
    policy.proof.mode === 'enforce' ? 'no pod can be created' : 'pods are created without a proof';
  const warnings = [
    `${code}: ${message}`,
    `${effect} in namespace ${namespace} while its label ${profileLabel} is wrong`,
    `see ${errorPage(code)}`,
  ];
  return decision('warned', code, { warnings });
}
