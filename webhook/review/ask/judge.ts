import { decodePodRequest } from '../../admission/decode.ts';
import { isOurs } from '../../admission/mutate/profile-selection.ts';
import type { AdmissionReview } from '../../admission/review.ts';
import { dotted } from '../../config/explain.ts';
import { CniGateError } from '../../lib/errors.ts';
import { optOutValue, profileLabel } from '../../lib/names.ts';
import { own } from '../../lib/own.ts';
import { lineNear, valueOfDocument } from '../input/locate.ts';
import type { MeshGap } from '../mesh/gaps.ts';
import type { Mesh } from '../mesh/meshes.ts';
import { type Fault, faultAt, nameOf, type Reviewed, type Verdict, type Workload } from '../model.ts';
import { fieldsOf, parts, relocate, valueAt } from '../values.ts';
import { verdictOf } from './verdict.ts';

/** Answers admission calls: the server's code in this process, or a running server. */
export interface Admission {
  /**
   * @param meshes the meshes whose injectors are assumed to have run
   * @throws CniGateError if the body is not a review of a pod, or if there is no answer
   */
  answer(body: unknown, meshes?: readonly Mesh[]): Promise<AdmissionReview>;
  /** Why the API server would not call for a pod of this namespace, or undefined if it would. */
  uncalled(namespace: string): Uncalled | undefined;
  /**
   * The meshes whose injector must run before their profiles apply to the pod of a body; absent if the profiles are
   * unknown.
   *
   * @throws CniGateError if the body is not a review of a pod
   */
  meshGaps?(body: unknown): MeshGap[];
}

/** An AdmissionReview of another kind than Pod. */
export interface OtherKind {
  otherKind: string;
}

/** The namespace is exempt, has no label that opts in, or is not in the input. */
export type Uncalled = 'exempt-namespace' | 'not-opted-in' | 'namespace-not-given';

const notCalled = (reason: Uncalled): Verdict => ({
  outcome: 'skipped',
  reason,
  profiles: [],
  checks: [],
  warnings: [],
  operations: [],
});

/**
 * Returns what admission does with a workload, or why it was not asked.
 *
 * @param assumeMeshed whether a pod that requests a mesh is judged as if the mesh's injector had run
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
      // an invalid pod is reported in any namespace: no cluster would accept it
      const verdict = { ...notCalled(uncalled), ...podLabelOf(body) };
      return { workload, verdict, gaps: [] };
    }
    const gaps = given ? [] : (admission.meshGaps?.(body) ?? []);
    const meshes = assumeMeshed ? gaps.map(({ mesh }) => mesh) : [];
    const verdict = verdictOf(await admission.answer(body, meshes), body);
    const moved = relocate(verdict.operations, workload.podPath);
    const operations = moved.length > 0 ? [...workload.prelude, ...moved] : moved;
    const assumed = meshes.map(({ name }) => name);
    // the output answers only reviews of the input, and each answer contains its patch a second time
    const { answer, ...kept } = verdict;
    return {
      workload,
      verdict: {
        ...kept,
        operations,
        ...(!given && verdict.reason === ('not-opted-in' satisfies Uncalled) && podLabelOf(body)),
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

/**
 * The profile that the label of the pod names, unless an earlier call copied it from the namespace.
 *
 * @throws CniGateError if the body is not a review of a pod
 */
function podLabelOf(body: unknown): Pick<Verdict, 'podLabel'> {
  const { pod } = decodePodRequest(body);
  const label = own(pod.metadata.labels, profileLabel) ?? '';
  return label === '' || label === optOutValue || isOurs(pod, label) ? {} : { podLabel: label };
}

const place = ({ document, line }: Workload): Pick<Fault, 'file' | 'line'> => ({ file: document.file, line });

/** The fault with paths of the manifest: admission knows only the pod that was made from it. */
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

/** YAML reads `1.10` as a number and `yes` as a boolean, the most common mistake in labels. */
function seenInstead(what: string, seen: unknown): string {
  if (typeof seen !== 'number' && typeof seen !== 'boolean') return '';
  return what.endsWith('must be string') ? `, is ${seen}: put it in quotes` : `, is ${seen}`;
}
