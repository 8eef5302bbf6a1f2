import type { Operation } from 'fast-json-patch';
import type { AdmissionReview } from '../admission/review.ts';
import type { Outcome } from '../inject/decide.ts';
import { CniGateError, type ErrorCode } from '../lib/errors.ts';

/** Keys and indexes that lead from a value to one inside it. */
export type Path = readonly (string | number)[];

/** One document of the input: what stands between two `---`, or one of several JSON values. */
export interface SourceDocument {
  /** The name that the reader knows the input by. */
  file: string;
  /** The line of the file on which `text` begins, from 1. */
  start: number;
  /** The line of the document's first value, behind comments. */
  line: number;
  /** Exactly as it stands in the input, its `---` included. */
  text: string;
  /** Whether it is JSON, and so has no comments to keep. */
  json: boolean;
  /** Whether it holds several objects: a List, or a list. */
  list: boolean;
  /** Whether something in it is reviewed. */
  reviewed: boolean;
  /** Whether it goes on where the one before it ends, as the items of a large List do, without `---` between. */
  continues: boolean;
}

/** An object of the input that makes pods, or an AdmissionReview about a pod. */
export interface Workload {
  document: SourceDocument;
  /** Where the object stands in its document; empty where it is the document. */
  path: Path;
  line: number;
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  /** Which of the object's pod templates it is, where it has several. */
  part?: string;
  /** Whether its kind is in no list, and it was reviewed because it looks like a workload. */
  unknownKind?: true;
  /** Where the pod, or the template it is made from, stands in the object. */
  podPath: Path;
  /** The body of the admission call, made anew at each call: objects take several times the memory of their text. */
  body: () => unknown;
  /** Whether the body is from the input, not made from a manifest. */
  given: boolean;
  /** Operations that have to come before those of the patch: the template may lack the metadata that a pod has. */
  prelude: Operation[];
}

/** What admission answered. */
export interface Verdict {
  outcome: Outcome;
  /** An exemption, an error code or `promised`; see `Decision` of admission. */
  reason: string;
  profiles: string[];
  /** The words of the checks that the pod's init container makes; empty where it gets none. */
  checks: string[];
  /** Meshes that the pod was judged with as if their injector had run. */
  assumed?: string[];
  warnings: string[];
  /** The text of a refusal. */
  message?: string;
  /** The patch, with paths from the workload's object. */
  operations: Operation[];
  /** The answer as the server sends it; none where the API server would not have called. */
  answer?: AdmissionReview;
}

/** A workload with its verdict. */
export interface Reviewed {
  workload: Workload;
  verdict: Verdict;
}

/** Something in the input that could not be read; the rest of the input is reviewed all the same. */
export interface Fault {
  code: ErrorCode;
  message: string;
  file: string;
  line?: number;
  column?: number;
}

/** Something in the input that was read and reviewed, and that most likely does not do what its author means. */
export interface Finding extends Fault {
  /** What it is about, such as `Namespace shop`. */
  subject: string;
  /** Where it is about one workload. */
  workload?: Workload;
}

/** Everything that an output is made from. */
export interface Report {
  documents: SourceDocument[];
  reviewed: Reviewed[];
  faults: Fault[];
  findings: Finding[];
  /** Objects that are neither workload nor Namespace, by kind. */
  otherObjects: Map<string, number>;
  /** Whether the input is admission calls and no manifests, read or not. */
  reviewsOnly: boolean;
  namespaces: number;
}

/** `file:line:column`, as far as it is known. */
export function placeOf(fault: Pick<Fault, 'file' | 'line' | 'column'>): string {
  return [fault.file, fault.line, fault.column].filter((part) => part !== undefined).join(':');
}

/** An error in the input at a place. */
export function faultAt(
  place: Pick<Fault, 'file' | 'line' | 'column'>,
  code: ErrorCode,
  message: string,
): Fault {
  return { code, message, ...place };
}

/** The fault that a CniGateError tells, or undefined for any other error. */
export function faultOf(error: unknown, place: Pick<Fault, 'file' | 'line'>): Fault | undefined {
  return error instanceof CniGateError ? faultAt(place, error.code, error.message) : undefined;
}
