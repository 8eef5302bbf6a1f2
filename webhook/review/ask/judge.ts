import { decodePodRequest } from '../../admission/decode.ts';
import type { AdmissionReview } from '../../admission/review.ts';
import { dotted } from '../../config/explain.ts';
import { CniGateError } from '../../errors.ts';
import { lineNear, valueOfDocument } from '../input/locate.ts';
import { type Fault, faultAt, type Judged, type Verdict, type Workload } from '../model.ts';
import { fieldsOf, valueAt } from '../values.ts';
import { parts, relocate } from './pointer.ts';
import { verdictOf } from './verdict.ts';

/** Whoever answers admission calls: the code of the server in this process, or a running one. */
export interface Admission {
  /** @throws CniGateError where the body is no review of a pod, or where nobody answers */
  answer(body: unknown): Promise<AdmissionReview>;
  /** Why the API server would not call for a pod of this namespace, or undefined where it would. */
  uncalled(namespace: string): Uncalled | undefined;
}

/** An AdmissionReview about something else than a pod. */
export interface OtherKind {
  otherKind: string;
}

/** The namespace has no label that opts in, or it is not in the input and nobody can tell. */
export type Uncalled = 'not-opted-in' | 'namespace-not-given';

const notCalled = (reason: Uncalled): Verdict => ({
  outcome: 'skipped',
  reason,
  profiles: [],
  warnings: [],
  operations: [],
});

/**
 * What admission does with a workload, or why it cannot be asked.
 *
 * @throws CniGateError CNI_GATE_SERVER
 */
export async function judge(workload: Workload, admission: Admission): Promise<Judged | Fault | OtherKind> {
  const { given, namespace } = workload;
  const body = workload.body();
  const { uid, kind } = fieldsOf(fieldsOf(body).request);
  try {
    const uncalled = given ? undefined : admission.uncalled(namespace);
    if (uncalled !== undefined) {
      // what is no pod is told in any namespace: no cluster would take it
      decodePodRequest(body);
      return { workload, verdict: notCalled(uncalled) };
    }
    const verdict = verdictOf(await admission.answer(body), uid);
    const moved = relocate(verdict.operations, workload.podPath);
    const operations = moved.length > 0 ? [...workload.prelude, ...moved] : moved;
    // only reviews that were given are answered in the output, and each answer holds its patch a second time
    const { answer, ...kept } = verdict;
    return { workload, verdict: { ...kept, operations, ...(given && answer !== undefined && { answer }) } };
  } catch (error) {
    if (error instanceof RangeError) {
      return faultAt(place(workload), 'CNI_GATE_INPUT_SYNTAX', `${nameOf(workload)}: nested too deeply`);
    }
    if (!(error instanceof CniGateError) || error.code === 'CNI_GATE_SERVER') throw error;
    const other = fieldsOf(kind).kind;
    if (error.code === 'CNI_GATE_REVIEW_KIND' && typeof other === 'string') return { otherKind: other };
    return malformed(workload, error);
  }
}

/** `Deployment shop/web` */
export const nameOf = ({ kind, namespace, name }: Workload): string => `${kind} ${namespace}/${name}`;

const place = ({ document, line }: Workload): Pick<Fault, 'file' | 'line'> => ({ file: document.file, line });

/** The fault in the terms of the manifest: admission knows the pod only, which was made from it. */
function malformed(workload: Workload, error: CniGateError): Fault {
  const match = /^request\.object(\/\S*)? /.exec(error.message);
  const code = workload.given ? error.code : 'CNI_GATE_INPUT_SYNTAX';
  if (match === null) return faultAt(place(workload), code, `${nameOf(workload)}: ${error.message}`);
  const inObject = [...workload.podPath, ...parts(match[1] ?? '')];
  const line = lineNear(workload.document, [...workload.path, ...inObject]) ?? workload.line;
  const what = `${dotted(inObject) || 'the object'} ${error.message.slice(match[0].length)}`;
  const seen = valueAt(valueOfDocument(workload.document), [...workload.path, ...inObject]);
  const message = `${nameOf(workload)}: ${what}${seenInstead(what, seen)}`;
  return faultAt({ file: workload.document.file, line }, code, message);
}

/** YAML makes a number of `1.10` and a boolean of `yes`, which is what most often goes wrong in labels. */
function seenInstead(what: string, seen: unknown): string {
  if (typeof seen !== 'number' && typeof seen !== 'boolean') return '';
  return what.endsWith('must be string') ? `, is ${seen}: put it in quotes` : `, is ${seen}`;
}
