import type { Operation } from 'fast-json-patch';
import type { Outcome } from '../admission/mutate.ts';
import type { AdmissionReview } from '../admission/review.ts';
import type { ErrorCode } from '../lib/errors.ts';

/** Keys and indexes from a value to one inside it. */
export type Path = readonly (string | number)[];

/** One document of the input: the text between two `---`, or one of several JSON values. */
export interface SourceDocument {
  file: string;
  /** The line of the file on which `text` begins, from 1. */
  start: number;
  /** The exact text in the input, with its `---`. */
  text: string;
  /** Whether it is JSON, which has no comments. */
  json: boolean;
  /** Whether it has no object to read, because its text was reported. */
  blank: boolean;
}

/** Where an object of the input is. */
export interface Position {
  document: SourceDocument;
  /** The path of the object in its document; empty if it is the document. */
  path: Path;
  line: number;
}

/** An object of the input that creates pods. */
export interface Workload extends Position {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  /** Names one of several pod templates of the object. */
  part?: string;
  /** The path of the pod or its template in the object. */
  podPath: Path;
  /** Why the Job may fail for its network although repair runs, and the line that says so. */
  jobFault?: Pick<Finding, 'message' | 'line'> & { never: boolean };
  /** Parses the body of the admission call: objects use several times the memory of their text. */
  body: () => unknown;
  /** Operations to apply before the patch: the template may lack the metadata of a pod. */
  prelude: Operation[];
  /** Whether it is a recorded AdmissionReview, which is answered whatever its namespace is. */
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
  /** The profile that the pod's own label names, and that was not copied from its namespace. */
  podLabel?: string;
  /** Meshes whose injectors were assumed to have run. */
  assumed?: string[];
  warnings: string[];
  /** The text of a refusal. */
  message?: string;
  /** The patch, with paths from the workload's object. */
  operations: Operation[];
  /** What the server would send, for a recorded AdmissionReview. */
  answer?: AdmissionReview;
}

export interface Reviewed {
  workload: Workload;
  decision: ReviewDecision;
}

/** A part of the input that could not be read; the rest is reviewed. */
export interface Fault {
  code: ErrorCode;
  message: string;
  file: string;
  line?: number;
  column?: number;
}

/** A part of the input that probably does not do what its author intends. */
export interface Finding extends Fault {
  /** What it is about, such as `Namespace shop`. */
  subject: string;
  /** Its position, if it is about one workload. */
  workload?: Workload;
  /** The namespace that it is about, if it is about a namespace or an object in it. */
  namespace?: string;
}

/** The data of every output. */
export interface Report {
  documents: SourceDocument[];
  reviewed: Reviewed[];
  faults: Fault[];
  findings: Finding[];
  /** Numbers of objects that are neither workload nor Namespace, by kind. */
  otherObjects: Map<string, number>;
  namespaces: number;
}

/** Whether all input is AdmissionReviews: the JSON output is then their answers. */
export const isRecorded = ({ reviewed }: Report): boolean =>
  reviewed.length > 0 && reviewed.every(({ workload }) => workload.recorded);

/** The number of workloads with an outcome; `skipped` is counted by reason. */
type Outcomes = Record<Exclude<Outcome, 'skipped'>, number>;

/** The totals of a report. */
export interface Summary extends Outcomes {
  workloads: number;
  /** By reason. */
  skipped: Record<string, number>;
  /** Objects that create no pods, by kind. */
  otherObjects: Record<string, number>;
  namespaces: number;
  /** Warnings of the cluster. */
  warnings: number;
  findings: number;
  /** Unreadable parts of the input. */
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
 * The exit code: 2 for unreadable input, 1 for a refusal and, if strict, for a warning or a finding. Otherwise a
 * pipeline without the Namespace, or without the mesh's injector, would pass and check nothing.
 */
export function exitCodeOf({ errors, refused, warnings, findings }: Summary, strict: boolean): number {
  if (errors > 0) return 2;
  return refused > 0 || (strict && warnings + findings > 0) ? 1 : 0;
}

type Place = { file: string; line?: number | undefined; column?: number | undefined };

/** `file:line:column`, as far as known. */
export const placeOf = ({ file, line, column }: Place): string =>
  [file, line, column].filter((part) => part !== undefined).join(':');

/** An error in the input at a place. */
export const faultAt = (place: Omit<Fault, 'code' | 'message'>, code: ErrorCode, message: string): Fault => ({
  code,
  message,
  ...place,
});

/** `Deployment shop/web`, or `PyTorchJob shop/train pytorchReplicaSpecs.Worker` for one of several templates. */
export const nameOf = ({ kind, namespace, name, part }: Named): string =>
  `${kind} ${namespace}/${name}${part === undefined ? '' : ` ${part}`}`;

type Named = Pick<Workload, 'kind' | 'namespace' | 'name'> & { part?: string | undefined };

/** `message (CODE)`. */
export const textOf = ({ message, code }: Finding): string => `${message} (${code})`;

/** Notes on a decision. */
export const notesOn = ({ assumed }: ReviewDecision): string[] =>
  assumed ? [`checked as if the injector of ${assumed.join(' and ')} had run`] : [];
