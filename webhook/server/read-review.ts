import { mutate } from '../admission/mutate.ts';
import { decodePlacement, type Placement } from '../admission/placement.ts';
import type { AdmissionDecision } from '../admission/respond.ts';
import type { AdmissionReview } from '../admission/review.ts';
import { type NamespaceRequest, reviewNamespace } from '../admission/review-namespace.ts';
import type { NamespaceFacts } from '../core/facts/namespace.ts';
import type { Policy } from '../core/profiles/policy.ts';
import { CniGateError, type ErrorCode, messageOf } from '../lib/errors.ts';

/** A webhook, by its path. */
export type WebhookName = 'mutate' | 'gate' | 'namespaces';

/** An error of cni-gate as plain data, to pass it between threads. */
export interface PlainError {
  code: ErrorCode;
  message: string;
}

/** The facts of a namespace, or why they are not known. */
export type NamespaceAnswer = { facts: NamespaceFacts | undefined } | PlainError;

export interface Decided {
  request: AnsweredRequest;
  decision: AdmissionDecision;
  /** The answer to send, if it was built together with the decision. */
  review?: AdmissionReview;
}

/** What is logged about a request. Requests about pods also have a name, and a node if the pod is to be bound. */
type AnsweredRequest = NamespaceRequest & { name?: string; node?: string };

/** The result of reading a body: plain data, and small even for a large body. */
export type Reading = Decided | { placement: Placement } | { unknownNamespace: string };

export interface ReadContext {
  /** The policy in force. */
  policy: Policy;
  /** The namespace in which cni-gate runs. Its pods are exempt. */
  ownNamespace: string | undefined;
  /** The facts of a namespace that are known already; undefined if they have to be requested first. */
  namespace: (name: string) => NamespaceAnswer | undefined;
}

/**
 * Reads the body of an admission call, JSON in UTF-8. Reading never waits, because a parsed body can take 40 times the
 * memory of its text. If the namespace is not known yet, the body is read again later.
 * @throws CniGateError if the body is not JSON, or not a review for this webhook
 */
export async function readReview(
  webhook: WebhookName,
  text: Buffer,
  { policy, ownNamespace, namespace }: ReadContext,
): Promise<Reading> {
  const body = parse(text);
  if (webhook === 'gate') return { placement: decodePlacement(body) };
  if (webhook === 'namespaces') return reviewNamespace(body, policy);
  let unknownNamespace: string | undefined;
  const facts = (name: string): NamespaceFacts | undefined => {
    const answer = namespace(name);
    if (answer === undefined) {
      unknownNamespace = name;
      throw new Error(`namespace ${name} is not known yet`);
    }
    if ('code' in answer) throw new CniGateError(answer.code, answer.message);
    return answer.facts;
  };
  try {
    const { request, decision, review } = await mutate(body, { policy, ownNamespace, namespaces: { facts } });
    const { pod: _, ...answered } = request;
    return { request: answered, decision, review };
  } catch (error) {
    if (unknownNamespace !== undefined) return { unknownNamespace };
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
