import { decodePodRequest } from '../../admission/decode.ts';
import type { AdmissionReview } from '../../admission/review.ts';
import { dotted } from '../../config/explain.ts';
import { CniGateError } from '../../lib/errors.ts';
import { lineNear, valueOfDocument } from '../input/locate.ts';
import type { MeshGap } from '../mesh/gaps.ts';
import type { Mesh } from '../mesh/meshes.ts';
import { type Fault, faultAt, type Reviewed, type Verdict, type Workload } from '../model.ts';
import { nameOf } from '../name.ts';
import { fieldsOf, valueAt } from '../values.ts';
import { parts, relocate } from './pointer.ts';
import { verdictOf } from './verdict.ts';

/** Whoever answers admission calls: the code of the server in this process, or a running one. */
export interface Admission {
  /**
   * @param meshes whose injectors are taken to have run
   * @throws CniGateError where the body is no review of a pod, or where nobody answers
   */
  answer(body: unknown, meshes?: readonly Mesh[]): Promise<AdmissionReview>;
  /** Why the API server would not call for a pod of this namespace, or undefined where it would. */
  uncalled(namespace: string): Uncalled | undefined;
  /**
   * The meshes whose injector has to run before the pod of a body is promised anything by them; absent where the
   * profiles are not known.
   *
   * @throws CniGateError where the body is no review of a pod
   */
  meshGaps?(body: unknown): MeshGap[];
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
  checks: [],
  warnings: [],
  operations: [],
});

/**
 * What admission does with a workload, or why it cannot be asked.
 *
 * @param assumeMeshed whether a pod that asks for a mesh is judged as if the mesh's injector had run
 * @throws CniGateError CNI_GATE_SERVER
 */
export async function judge(
  workload: Workload,
  admission: Admission,
  assumeMeshed = false,
): Promise<(Reviewed & { gaps: MeshGap[] }) | Fault | OtherKind> {
  const { given, namespace } = workload;
  const body = workload.body();
  const { kind } = fieldsOf(fieldsOf(body).request);
  try {
    const uncalled = given ? undefined : admission.uncalled(namespace);
    if (uncalled !== undefined) {
      // what is no pod is told in any namespace: no cluster would take it
      decodePodRequest(body);
      return { workload, verdict: notCalled(uncalled), gaps: [] };
    }
    const gaps = given ? [] : (admission.meshGaps?.(body) ?? []);
    const meshes = assumeMeshed ? gaps.map(({ mesh }) => mesh) : [];
    const verdict = verdictOf(await admission.answer(body, meshes), body);
    const moved = relocate(verdict.operations, workload.podPath);
    const operations = moved.length > 0 ? [...workload.prelude, ...moved] : moved;
    const assumed = meshes.map(({ name }) => name);
    // only reviews that were given are answered in the output, and each answer holds its patch a second time
    const { answer, ...kept } = verdict;
    return {
      workload,
      verdict: {
        ...kept,
        operations,
        ...(given && answer !== undefined && { answer }),
        ...(assumed.length > 0 && { assumed }),
      },
      gaps: assumeMeshed ? [] : gaps,
    };
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
