import type { Operation } from 'fast-json-patch';
import type { Outcome } from '../admission/mutate.ts';
import type { AdmissionDecision } from '../admission/respond.ts';
import type { AdmissionReview } from '../admission/review.ts';
import { type LeftReason, leftReasons } from '../core/policies/left.ts';
import type { ErrorCode } from '../lib/errors.ts';

/** The keys and indexes that lead from a value to another value inside it. */
export type Path = readonly (string | number)[];

/** One document of the input: a YAML document, or one of several JSON values. */
export interface SourceDocument {
  file: string;
  /** The line of the file on which `text` begins, from 1. */
  start: number;
  /** The exact text of the document in the input, with its `---`. */
  text: string;
  /** Whether the document is JSON, which has no comments. */
  json: boolean;
  /** Why there is no object to read; absent if there is one. */
  fault?: Fault | undefined;
}

/** Where an object is in the input. */
export interface Position {
  document: SourceDocument;
  /** The path of the object in its document; empty if the object is the whole document. */
  path: Path;
  line: number;
}

/** A Namespace of the input. */
export interface NamespaceObject {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  file: string;
  /** The line of the profile label or, if it is absent, of the nearest field that would contain it. */
  line: number;
}

/** A custom resource of a kind that review does not know. */
export interface Unseen {
  kind: string;
  /** `metadata.namespace`; custom resources of the whole cluster have none. */
  namespace: unknown;
  file: string;
  line: number;
}

/** An object of the input that creates pods. */
export interface Workload extends Position {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  /** The name of the pod template; absent if the object has only one. */
  part?: string;
  /** The path, in the object, of the pod or the pod template. */
  podPath: Path;
  /** Why failed proofs may fail the Job although repair runs, and the line with the cause. */
  jobFault?: { message: string; line: number; never: boolean };
  /** Parses the body of the admission call. The body is stored as text, to save memory. */
  body: () => unknown;
  /** Operations that must precede the patch: they add the metadata that a template may lack. */
  prelude: Operation[];
  /** Whether the workload is a recorded AdmissionReview, which is judged even if its namespace did not opt in. */
  recorded?: true;
}

/** The answer of admission. The paths of its patch begin at the workload's object. */
export interface ReviewDecision extends Omit<AdmissionDecision<Outcome>, 'profile'> {
  /** The names of the init container's checks; empty if the pod gets none. */
  checks: string[];
  /** The profile that the pod's own label names; absent if the label was copied from the namespace. */
  podLabel?: string;
  /** Meshes whose injectors were assumed to have run. */
  assumed?: string[];
  /** Why the mutating policy leaves the pod to the server; absent if it does not, or if the pod is refused. */
  needsServer?: LeftReason;
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
  line?: number | undefined;
  column?: number | undefined;
}

/** A part of the input that probably does not do what its author intends. */
export interface Finding extends Fault {
  /** The object that the finding is about, such as `Namespace shop`. */
  subject: string;
  /** The workload that the finding is about, if there is exactly one. */
  workload?: Workload;
  /** The namespace that is the subject of the finding, or that contains the subject. */
  namespace?: string;
}

/** The result of a review, from which every output is made. */
export interface Report {
  documents: SourceDocument[];
  reviewed: Reviewed[];
  faults: Fault[];
  findings: Finding[];
  /** The number of objects of each kind except workloads and Namespaces. */
  otherObjects: Map<string, number>;
  namespaces: number;
}

/** Whether all objects of the input are AdmissionReviews; the JSON output then consists of their answers. */
export const isRecorded = ({ reviewed }: Report): boolean =>
  reviewed.length > 0 && reviewed.every(({ workload }) => workload.recorded);

/** The totals of a report, with the number of workloads for each outcome. */
export interface Summary extends Record<Exclude<Outcome, 'skipped'>, number> {
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
  const byOutcome = Map.groupBy(decisions, ({ outcome }) => outcome);
  const count = (outcome: Outcome): number => byOutcome.get(outcome)?.length ?? 0;
  const skipped = Map.groupBy(byOutcome.get('skipped') ?? [], ({ reason }) => reason);
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
 * The exit code: 2 for unreadable input, 1 for a refusal or, with `strict`, for a warning or finding. Without
 * `strict`, a pipeline passes even if nothing is checked because a Namespace or an injector is missing.
 */
export function exitCodeOf({ errors, refused, warnings, findings }: Summary, strict: boolean): number {
  if (errors > 0) return 2;
  return refused > 0 || (strict && warnings + findings > 0) ? 1 : 0;
}

/** `file:line:column`, as far as line and column are known. */
export const placeOf = ({ file, line, column }: Pick<Fault, 'file' | 'line' | 'column'>): string =>
  [file, line, column].filter((part) => part !== undefined).join(':');

type Named = Pick<Workload, 'kind' | 'namespace' | 'name' | 'part'>;

/** `Deployment shop/web`, or `PyTorchJob shop/train pytorchReplicaSpecs.Worker` if the kind has several templates. */
export const nameOf = ({ kind, namespace, name, part }: Named): string =>
  `${kind} ${namespace}/${name}${part === undefined ? '' : ` ${part}`}`;

/** What a reader should know about a decision besides its outcome. */
export const notesOn = ({ assumed, needsServer }: ReviewDecision): string[] => [
  ...(assumed ? [`checked as if the injector of ${assumed.join(' and ')} had run`] : []),
  ...(needsServer ? [`needs the server: ${leftReasons[needsServer]}`] : []),
];
