import { Readiness } from '../../core/networks/readiness.ts';
import type { Policy } from '../../core/profiles/policy.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import { docsUrl, profileLabel } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import { type Finding, few } from '../checks/finding.ts';
import { checkAdmission, checkPresence } from '../checks/installed.ts';
import { checkDaemonSets, checkLabels, type OptedIn, optedIn, profilesInUse } from '../checks/namespaces.ts';
import { checkProbe } from '../checks/probe.ts';
import { checkProofMode } from '../checks/proof-mode.ts';
import { checksFrom } from '../checks/report.ts';
import type { StatusFacts } from '../facts/collect.ts';
import { countProofs } from '../facts/proof.ts';
import { headline } from '../text/headline.ts';
import { featuresOf } from './features.ts';
import { compare, judgeNodes, notReady } from './nodes.ts';
import { duplicateAddresses, failedPods, heldPods, podsWithoutProof, waitingPods } from './pods.ts';

/** What a status depends on beside the facts. */
export interface StatusOptions {
  /** Milliseconds since the epoch. */
  now: number;
  /** Nodes that are ready or exempt as well. */
  all: boolean;
}

/**
 * The result of a status: `not-well` where something is wrong, `not-known` where nothing is but a right is missing
 * to see all that admission depends on, or the probe could not be made.
 */
export type Result = 'well' | 'not-well' | 'not-known' | 'not-installed';

/** What `status --output json` prints; `schemas/status.json` describes each field. */
export type Status = ReturnType<typeof statusOf>;

/** A status without its first line. */
export type Judged = ReturnType<typeof judge>;

/** The status of what is known of a cluster. The same facts at the same time give the same status, in one order. */
export function statusOf(facts: StatusFacts, options: StatusOptions) {
  const pods = facts.pods.toSorted(
    (one, other) => compare(one.namespace, other.namespace) || compare(one.name, other.name),
  );
  const { time, result, ...rest } = judge({ ...facts, pods }, options);
  return { time, result, headline: headline({ time, result, ...rest }), ...rest };
}

function judge(facts: StatusFacts, { now, all }: StatusOptions) {
  const { namespace, probe, cluster, configuration } = facts;
  const { policy } = configuration;
  const presence = checkPresence(facts);
  const isGone = presence.result === 'failed';
  // without an installation no pod is held or has to be proved, and no node has to be ready
  const { readiness, pods } = isGone ? { readiness: new Readiness(), pods: [] } : facts;
  const namespaces = optedIn(facts);
  const ofPods = pods.flatMap(({ profile }) => profile ?? []);
  const admission = checkAdmission(facts, now);
  const findings = {
    ...admission,
    ...(probe && { probe: probeFinding(facts) }),
    'namespace-labels': checkLabels(facts),
    daemonsets: checkDaemonSets(facts, ofPods),
  };
  const proofMode = checkProofMode(configuration, { found: pods });
  const features = featuresOf(facts, admission);
  /** Why a feature is not in force; null where it is, or where that is not known. */
  const offOf = (name: 'steer' | 'repair'): string | null =>
    features.find(({ feature, inForce }) => feature === name && inForce === false)?.why ?? null;
  const labels = isGone ? [] : [...namespaces.map(({ profile }) => profile), ...ofPods];
  const used = profilesInUse(policy, labels);
  // with one namespace, the pods of others are not known
  const nodes = judgeNodes(policy, readiness, pods, used, { now, all, whole: namespace === undefined });
  const faults = [
    ...(isGone ? [notInstalled(presence, namespaces)] : faultsOf(findings)),
    ...(namespace !== undefined && namespaces.length === 0 ? [notOptedIn(policy, namespace)] : []),
  ];
  const podsOf = Map.groupBy(pods, (pod) => pod.namespace);
  const judged = { ...facts, pods };
  const troubles = {
    heldPods: heldPods(judged, offOf('steer')),
    podsWithoutProof: podsWithoutProof(pods),
    failedPods: failedPods(judged, offOf('repair'), now),
    waitingPods: waitingPods(judged, now),
    duplicateAddresses: duplicateAddresses(pods),
  };
  const wrong = [faults, notReady(nodes.nodes), ...Object.values(troubles)];
  const isRight = wrong.every((list) => list.length === 0);
  const notKnown = Object.values(findings).flatMap(({ result, essential, what }) =>
    result === 'not-known' && essential ? [what] : [],
  );
  const result = resultOf(isGone, isRight, notKnown);
  return {
    time: timeText(now),
    result,
    well: result === 'well',
    cluster,
    configuration: configuration.source,
    features,
    installation: isGone ? [] : checksFrom({ ...admission, ...(proofMode && { 'proof-mode': proofMode }) }),
    notKnown,
    probe: probe ?? null,
    namespace: namespace ?? null,
    namespaces: namespaces.map((one) => ({ ...one, pods: countProofs(podsOf.get(one.name) ?? []) })),
    pods: countProofs(pods),
    unprovedNodes: nodes.unproved,
    wayNotShown: pods.filter(({ evidence }) => evidence?.wayNotShown).length,
    daemonSets: nodes.daemonSets,
    nodes: nodes.nodes,
    faults,
    ...troubles,
  };
}

/** Something that is wrong, and its code. */
interface Fault {
  code: ErrorCode;
  message: string;
}

/** A probe that was asked for and not made leaves the result open. */
function probeFinding(facts: StatusFacts): Finding {
  const finding = checkProbe(facts);
  return finding.result === 'skipped' && facts.probe?.outcome === 'not-made'
    ? { ...finding, result: 'not-known', essential: true }
    : finding;
}

function resultOf(isGone: boolean, isRight: boolean, notKnown: readonly string[]): Result {
  if (isGone) return 'not-installed';
  if (!isRight) return 'not-well';
  return notKnown.length > 0 ? 'not-known' : 'well';
}

/** The faults of checks that failed, what breaks others first. */
const faultsOf = (findings: Record<string, Finding>): Fault[] =>
  Object.values(findings).flatMap(({ code, what, hint }) =>
    code === null ? [] : [{ code, message: `${what}. ${hint}` }],
  );

function notInstalled({ what }: Finding, namespaces: readonly OptedIn[]): Fault {
  const names = few(namespaces.map(({ name }) => name));
  const unchecked = names === '' ? '' : ` cni-gate checks no pods of the namespaces that opted in: ${names}.`;
  const message = `${what}.${unchecked} To install it: ${docsUrl}guides/install.md`;
  return { code: 'CNI_GATE_NOT_INSTALLED', message };
}

function notOptedIn({ profiles }: Policy, namespace: string): Fault {
  const message = `namespace ${namespace} has not opted in, so nothing of it is held or proved: kubectl label --overwrite namespace ${namespace} ${profileLabel}=PROFILE, of ${[...profiles.keys()].join(', ')}, or several joined by dots`;
  return { code: 'CNI_GATE_NOT_OPTED_IN', message };
}
