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

/** An error of cni-gate as plain data, which another thread can receive. */
export interface PlainError {
  code: ErrorCode;
  message: string;
}

/** The answer to the question about a namespace: its facts, or why they are not known. */
export type NamespaceAnswer = { facts: NamespaceFacts | undefined } | PlainError;

export interface Decided {
  request: AnsweredRequest;
  decision: AdmissionDecision;
  /** The answer, where it is made already. */
  review?: AdmissionReview;
}

/** What is logged about a request: of a pod also its name, and the node that it is to be bound to. */
type AnsweredRequest = NamespaceRequest & { name?: string; node?: string };

/** What follows from a body alone: plain data, and small whatever the body was. */
export type Reading = Decided | { placement: Placement } | { unknownNamespace: string };

export interface ReadContext {
  /** In force now. */
  policy: Policy;
  /** The namespace that cni-gate runs in: its pods are exempt. */
  ownNamespace: string | undefined;
  /** What is known of a namespace without a wait; undefined where nobody has been asked. */
  namespace: (name: string) => NamespaceAnswer | undefined;
}

/**
 * Reads the body of an admission call, JSON in UTF-8. It never waits, so that no parsed body stays in memory: one can
 * take 40 times as much as its text. A body whose namespace is not known is read a second time.
 * @throws CniGateError where the body is not JSON, or not a review for this webhook
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
