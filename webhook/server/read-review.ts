import { mutate } from '../admission/mutate.ts';
import { decodePlacement, type Placement } from '../admission/placement.ts';
import type { AdmissionDecision } from '../admission/respond.ts';
import type { AdmissionReview } from '../admission/review.ts';
import { type NamespaceRequest, reviewNamespace } from '../admission/review-namespace.ts';
import type { NamespaceFacts, Namespaces } from '../core/facts/namespace.ts';
import type { Policy } from '../core/profiles/policy.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';

/** A webhook, by its path. */
export type WebhookName = 'mutate' | 'gate' | 'namespaces';

export interface Decided {
  request: AnsweredRequest;
  decision: AdmissionDecision;
  /** The answer to send, if it was built together with the decision. */
  review?: AdmissionReview;
}

/** What is logged about a request. Requests about pods also have a name, and a node if the pod is to be bound. */
type AnsweredRequest = NamespaceRequest & { name?: string; node?: string };

/** The result of reading a body. `missing`: the namespace's facts, which are still being requested. */
export type Reading = Decided | { placement: Placement } | { missing: Promise<NamespaceFacts | undefined> };

export interface ReadContext {
  /** The policy in force. */
  policy: Policy;
  /** The namespace in which cni-gate runs. Its pods are exempt. */
  ownNamespace: string | undefined;
  namespaces: Namespaces;
}

/**
 * Reads the body of an admission call, JSON in UTF-8. Reading never waits, because a parsed body in memory can take 40
 * times the size of its text. If the namespace is not known yet, the body is read again later.
 * @throws CniGateError if the body is not JSON, or not a review for this webhook
 */
export function readReview(
  webhook: WebhookName,
  text: Buffer,
  { policy, ownNamespace, namespaces }: ReadContext,
): Reading {
  const body = parse(text);
  if (webhook === 'gate') return { placement: decodePlacement(body) };
  if (webhook === 'namespaces') return reviewNamespace(body, policy);
  let missing: Promise<NamespaceFacts | undefined> | undefined;
  const facts = (name: string): NamespaceFacts | undefined => {
    const found = namespaces.facts(name);
    if (!(found instanceof Promise)) return found;
    missing = found;
    throw new Error(`namespace ${name} is not known yet`);
  };
  try {
    const { request, decision, review } = mutate(body, { policy, ownNamespace, namespaces: { facts } });
    const { pod: _, ...answered } = request;
    return { request: answered, decision, review };
  } catch (error) {
    if (missing !== undefined) return { missing };
    throw error;
  }
}

function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch (error) {
    const [firstLine = ''] = messageOf(error).split('\n');
    throw new CniGateError('CNI_GATE_REVIEW_SYNTAX', `the body is not JSON: ${firstLine.slice(0, 200)}`);
  }
}
