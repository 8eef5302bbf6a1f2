import type { Operation } from 'fast-json-patch';
import type { Outcome } from '../admission/mutate.ts';
import type { AdmissionReview } from '../admission/review.ts';
import { type LeftReason, leftReasons } from '../core/policies/left.ts';
import type { ErrorCode } from '../lib/errors.ts';

/** The keys and indexes that lead from a value to another value inside it. */
export type Path = readonly (string | number)[];

/** One document of the input: the text between two `---` lines, or one of several JSON values. */
export interface SourceDocument {
  file: string;
  /** The line of the file on which `text` begins, from 1. */
  start: number;
  /** The exact text of the document in the input, with its `---`. */
  text: string;
  /** Whether the document is JSON, which has no comments. */
  json: boolean;
  /** Whether the document has no object to read, because a fault in its text was reported. */
  blank: boolean;
}

/** Where an object is in the input. */
export interface Position {
  document: SourceDocument;
  /** The path of the object in its document; empty if the object is the whole document. */
  path: Path;
  line: number;
}

/** An object of the input that creates pods. */
export interface Workload extends Position {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  /** Names the pod template; absent if the object has only one. */
  part?: string;
  /** The path of the pod or its template in the object. */
  podPath: Path;
  /** Why the Job may fail because of its network although repair runs, and the line with the cause. */
  jobFault?: Pick<Finding, 'message' | 'line'> & { never: boolean };
  /** Parses the body of the admission call: kept as text, because objects need several times its memory. */
  body: () => unknown;
  /** Operations to apply before the patch, because a template may lack the metadata that every pod has. */
  prelude: Operation[];
  /** Whether the workload is a recorded AdmissionReview, which is judged whatever its namespace is. */
  recorded?: true;
}

/** The answer of admission. */
export interface ReviewDecision {
  outcome: Outcome;
  /** An exemption, an error code or `profile-applies`; see `Decision` of admission. */
  reason: string;
  profiles: string[];
  /** The names of the init container's checks; empty if the pod gets none. */
  checks: string[];
  /** The profile that the pod's own label names; absent if the label was copied from the namespace. */
  podLabel?: string;
  /** Meshes whose injectors were assumed to have run. */
  assumed?: string[];
  /** Why the mutating policy would leave the pod to the server; absent if it would not, or if the pod is refused. */
  needsServer?: LeftReason;
  warnings: string[];
  /** The message of a refusal. */
  message?: string;
  /** The patch; its paths begin at the workload's object. */
  operations: Operation[];
  /** The answer of the server to a recorded AdmissionReview. */
  answer?: AdmissionReview;
}

export interface Reviewed {
  workload: Workload;
  decision: ReviewDecision;
}

/** A part of the input that could not be read; the rest of the input is reviewed. */
export interface Fault {
  code: ErrorCode;
  message: string;
  file: string;
  line?: number;
  column?: number;
}

/** A part of the input that probably does not do what its author intends. */
export interface Finding extends Fault {
  /** The object that the finding is about, such as `Namespace shop`. */
  subject: string;
  /** The workload that the finding is about, if there is exactly one. */
  workload?: Workload;
  /** The namespace that the finding is about, or that contains the object that the finding is about. */
  namespace?: string;
}

/** The result of a review, from which every output is made. */
export interface Report {
  documents: SourceDocument[];
  reviewed: Reviewed[];
  faults: Fault[];
  findings: Finding[];
  /** The number of objects of each kind that is neither a workload nor a Namespace. */
  otherObjects: Map<string, number>;
  namespaces: number;
}

/** Whether all objects of the input are AdmissionReviews; the JSON output then consists of their answers. */
export const isRecorded = ({ reviewed }: Report): boolean =>
  reviewed.length > 0 && reviewed.every(({ workload }) => workload.recorded);

/** The number of workloads with each outcome except `skipped`, which is counted by reason. */
type Outcomes = Record<Exclude<Outcome, 'skipped'>, number>;

/** The totals of a report. */
export interface Summary extends Outcomes {
  workloads: number;
  /** The number of skipped workloads for each reason. */
  skipped: Record<string, number>;
  /** The number of objects of each kind that creates no pods. */
  otherObjects: Record<string, number>;
  namespaces: number;
  /** The number of warnings that admission returns. */
  warnings: number;
  findings: number;
  /** The number of parts of the input that could not be read. */
  errors: number;
}

export function summarize(report: Report): Summary {
  const decisions = report.reviewed.map((entry) => entry.decision);
  const count = (outcome: Outcome): number =>
    decisions.filter((decision) => decision.outcome === outcome).length;
  const skipped = Map.groupBy(
    decisions.filter(({ outcome }) => outcome === 'skipped'),
    ({ reason }) => reason,
  );
  return {
    workloads: decisions.length,
    injected: count('injected'),
    updated: count('updated'),
    current: count('current'),
    removed: count('removed'),
    skipped: Object.fromEntries([...skipped].map(([reason, { length }]) => [reason, length])),
    warned: count('warned'),
    refused: count('refused'),
    otherObjects: Object.fromEntries(report.otherObjects),
    namespaces: report.namespaces,
    warnings: decisions.reduce((sum, decision) => sum + decision.warnings.length, 0),
    findings: report.findings.length,
    errors: report.faults.length,
  };
}

/**
 * The exit code: 2 for unreadable input, 1 for a refusal and, if strict, for a warning or a finding. Without strict,
 * a pipeline would pass and check nothing if a Namespace or the mesh's injector is missing.
 */
export function exitCodeOf({ errors, refused, warnings, findings }: Summary, strict: boolean): number {
  if (errors > 0) return 2;
  return refused > 0 || (strict && warnings + findings > 0) ? 1 : 0;
}

type Place = { file: string; line?: number | undefined; column?: number | undefined };

/** `file:line:column`, without the parts that are not known. */
export const placeOf = ({ file, line, column }: Place): string =>
  [file, line, column].filter((part) => part !== undefined).join(':');

/** An error in the input at a place. */
export const faultAt = (place: Omit<Fault, 'code' | 'message'>, code: ErrorCode, message: string): Fault => ({
  code,
  message,
  ...place,
});

/** `Deployment shop/web`, or `PyTorchJob shop/train pytorchReplicaSpecs.Worker` if the kind has several templates. */
export const nameOf = ({ kind, namespace, name, part }: Named): string =>
  `${kind} ${namespace}/${name}${part === undefined ? '' : ` ${part}`}`;

type Named = Pick<Workload, 'kind' | 'namespace' | 'name'> & { part?: string | undefined };

/** `message (CODE)`. */
export const textOf = ({ message, code }: Finding): string => `${message} (${code})`;

/** Notes on a decision. */
export const notesOn = ({ assumed, needsServer }: ReviewDecision): string[] => [
  ...(assumed ? [`checked as if the injector of ${assumed.join(' and ')} had run`] : []),
  ...(needsServer ? [`needs the server: ${leftReasons[needsServer]}`] : []),
];
