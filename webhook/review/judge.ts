import type { Operation } from 'fast-json-patch';
import { mutate, type Outcome } from '../admission/mutate.ts';
import { decodePodRequest, InvalidObject, type PodRequest } from '../admission/review.ts';
import { builtInProfiles } from '../config/builtin.ts';
import { dotted, pointer, segments } from '../config/parse.ts';
import { FixedNamespaces } from '../core/facts/namespace.ts';
import type { Pod } from '../core/facts/pod.ts';
import { earlierCall, readStatus } from '../core/facts/status-annotation.ts';
import { type LeftReason, needsServer } from '../core/policies/left.ts';
import type { Policy } from '../core/profiles/policy.ts';
import { exemption, isExemptNamespace, select } from '../core/proof/selection.ts';
import { CniGateError } from '../lib/errors.ts';
import { valueAt } from '../lib/json.ts';
import { getOwn } from '../lib/maps.ts';
import { optOutValue, profileLabel } from '../lib/names.ts';
import { lineOf, parsed } from './input/read.ts';
import { asIfInjected, type Mesh, type MeshGap, meshesOf, meshGaps } from './mesh.ts';
import {
  type Fault,
  type NamespaceObject,
  nameOf,
  type Path,
  type ReviewDecision,
  type Workload,
} from './model.ts';

/** The options with which the simulated server would run. */
export interface JudgeOptions {
  policy: Policy;
  /** The profile that every namespace gets, whatever its label is. */
  profile?: string | undefined;
  /** Whether a pod that requests a mesh is judged as if the mesh's injector had run. */
  assumeMeshed?: boolean | undefined;
}

/** Why the API server would not call the webhook for pods. */
export type Uncalled = 'exempt-namespace' | 'not-opted-in' | 'namespace-not-given';

/**
 * Judges workloads with the code that the server runs for `/mutate`.
 *
 * @param known the namespaces in the input
 */
export function judgeFor(options: JudgeOptions, known: ReadonlyMap<string, NamespaceObject>) {
  const { policy, profile, assumeMeshed = false } = options;
  // the built-in profiles too: a configured profile that replaces one of them need not describe the injector again
  const meshes = meshesOf([...builtInProfiles(), ...policy.profiles.values()]);
  const namespaces = new FixedNamespaces(
    new Map([...known].map(([name, { labels }]) => [name, labels])),
    profile,
    new Map([...known].map(([name, { annotations }]) => [name, annotations])),
  );

  /** Why the API server would not call the webhook for a pod of this namespace; undefined if it would. */
  const uncalled = (namespace: string): Uncalled | undefined => {
    // as in the webhook configuration: some namespaces are excluded by name, the others selected by the profile label
    if (isExemptNamespace(namespace, undefined)) return 'exempt-namespace';
    const facts = namespaces.facts(namespace);
    if (facts === undefined) return 'namespace-not-given';
    return Object.hasOwn(facts.labels, profileLabel) ? undefined : 'not-opted-in';
  };

  /** @param assumed meshes whose injectors are assumed to have run */
  const decisionOn = async (
    workload: Workload,
    body: unknown,
    assumed: readonly Mesh[] = [],
  ): Promise<ReviewDecision> => {
    const asMeshed = assumed.reduce(
      (before, mesh) => before.withProfiles((each) => asIfInjected(each, mesh)),
      policy,
    );
    const { decision, review, request } = await mutate(body, { policy: asMeshed, namespaces });
    const { outcome, reason, profiles } = decision;
    const { warnings = [], status } = review.response;
    const { checks } = readStatus(request.pod) ?? {};
    const moved = relocate(decision.operations, workload.podPath);
    return {
      outcome,
      reason,
      profiles,
      checks: proved.has(outcome) && Array.isArray(checks) ? checks.map(String) : [],
      warnings,
      operations: moved.length > 0 ? [...workload.prelude, ...moved] : [],
      ...(status !== undefined && { message: status.message }),
      ...(assumed.length > 0 && { assumed: assumed.map(({ name }) => name) }),
      ...(workload.recorded && { answer: review }),
    };
  };

  /** Meshes whose injectors must run first, and why the pod needs the server. Call this before {@link mutate}. */
  const beforeAdmission = (request: PodRequest): { gaps: MeshGap[]; needs?: LeftReason | undefined } => {
    const { pod, namespace } = request;
    const facts = namespaces.facts(namespace);
    if (facts === undefined || exemption(request, policy.daemonSets, undefined)) return { gaps: [] };
    const needs = needsServer(pod, facts, policy);
    const { annotations = {} } = known.get(namespace) ?? {};
    try {
      const selection = select(pod, earlierCall(pod), facts.labels, policy);
      if (typeof selection === 'string') return { gaps: [], needs };
      return { gaps: meshGaps(pod, { labels: facts.labels, annotations }, selection.chosen, meshes), needs };
    } catch (error) {
      // admission will refuse the pod with the same error
      if (error instanceof CniGateError) return { gaps: [], needs };
      throw error;
    }
  };

  /** Returns what admission would do with a workload, and the meshes whose injectors must run first. */
  const judge = async (
    workload: Workload,
  ): Promise<{ decision: ReviewDecision; gaps: MeshGap[] } | Fault> => {
    const body = workload.body();
    try {
      // decoded first, because an invalid pod is a fault in every namespace
      const request = decodePodRequest(body);
      if (workload.recorded) return { decision: await decisionOn(workload, body), gaps: [] };
      const label = podLabelOf(request.pod);
      const reason = uncalled(workload.namespace);
      if (reason !== undefined) return { decision: { ...notCalled(reason), ...label }, gaps: [] };
      const { gaps, needs } = beforeAdmission(request);
      const assumed = assumeMeshed ? gaps.map(({ mesh }) => mesh) : [];
      const decided = await decisionOn(workload, body, assumed);
      const needed = needs !== undefined && decided.outcome !== 'refused' && { needsServer: needs };
      return { decision: { ...decided, ...label, ...needed }, gaps: assumeMeshed ? [] : gaps };
    } catch (error) {
      if (!(error instanceof CniGateError)) throw error;
      return malformed(workload, error);
    }
  };
  return { uncalled, judge };
}

/** The outcomes of pods that get the init container. */
const proved: ReadonlySet<Outcome> = new Set(['injected', 'updated', 'current']);

/** Prefixes the paths of operations, so that operations on an inner value apply to the object around it. */
function relocate(operations: readonly Operation[], to: Path): Operation[] {
  const prefix = pointer(to);
  return operations.map((operation) => ({
    ...operation,
    path: `${prefix}${operation.path}`,
    ...('from' in operation && { from: `${prefix}${operation.from}` }),
  }));
}

const notCalled = (reason: Uncalled): ReviewDecision => ({
  outcome: 'skipped',
  reason,
  profiles: [],
  checks: [],
  warnings: [],
  operations: [],
});

/** The profile that the pod's own label names, unless an earlier call copied the label from the namespace. */
function podLabelOf(pod: Pod): Pick<ReviewDecision, 'podLabel'> {
  const label = getOwn(pod.metadata.labels, profileLabel) ?? '';
  return label === '' || label === optOutValue || earlierCall(pod).copiedLabel ? {} : { podLabel: label };
}

/** Admission's error with paths of the manifest, instead of paths of the pod that was made from it. */
function malformed(workload: Workload, error: CniGateError): Fault {
  const { document, podPath, path } = workload;
  const isInObject = error instanceof InvalidObject;
  const inObject = isInObject ? [...podPath, ...segments(error.pointer)] : [];
  const full = [...path, ...inObject];
  const what = isInObject ? `${dotted(inObject) || 'the object'} ${error.fault}` : error.message;
  const message = `${nameOf(workload)}: ${what}${seenInstead(what, valueAt(parsed(document).value, full))}`;
  const code = workload.recorded ? error.code : 'CNI_GATE_INPUT_SYNTAX';
  return { code, message, file: document.file, line: lineOf(document, full) };
}

/** Describes a number or boolean where text was expected: YAML reads `1.10` as a number and `yes` as a boolean. */
function seenInstead(what: string, seen: unknown): string {
  if (typeof seen !== 'number' && typeof seen !== 'boolean') return '';
  return what.endsWith('must be string') ? `, is ${seen}: put it in quotes` : `, is ${seen}`;
}
