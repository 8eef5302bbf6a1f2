import { profileLabel } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import type { Finding } from '../checks/finding.ts';
import { checkAdmission, checkPresence } from '../checks/installed.ts';
import { type Fault, missingDaemonSets, type OptedIn, optedIn, profilesInUse } from '../checks/namespaces.ts';
import { checkProbe } from '../checks/probe.ts';
import { checksFrom } from '../checks/report.ts';
import type { StatusFacts } from '../facts/model.ts';
import { countProofs } from '../facts/proof.ts';
import { featuresOf } from './features.ts';
import { headline } from './headline.ts';
import { withoutInstallation } from './left-behind.ts';
import type { Status, Verdict } from './model.ts';
import { knownFrom, nodeProofs, refineBy } from './node-proofs.ts';
import { compare, judgeDaemonSets } from './nodes.ts';
import { duplicateAddresses, failedPods, heldPods, unprovedPods, waitingPods, waitsOf } from './pods.ts';

/** What a status depends on beside the facts. */
export interface StatusOptions {
  /** Milliseconds since the epoch. */
  now: number;
  /** Nodes that are ready or exempt as well. */
  all: boolean;
}

/** The status of what is known of a cluster. The same facts at the same time give the same status, in one order. */
export function statusOf(unordered: StatusFacts, { now, all }: StatusOptions): Status {
  const pods = unordered.pods.toSorted(
    (one, other) => compare(one.namespace, other.namespace) || compare(one.name, other.name),
  );
  const facts = { ...unordered, pods };
  const { namespace, probe, cluster, configuration } = facts;
  const { policy } = configuration;
  const namespaces = optedIn(facts);
  const asked = new Set(pods.flatMap(({ profile }) => profile ?? []));
  const { profiles, faults: ofLabels } = profilesInUse(policy, namespaces, asked);
  const presence = checkPresence(facts);
  const admission = checkAdmission(facts, now);
  const findings = { ...admission, ...(probe && { probe: probeFinding(facts) }) };
  const features = featuresOf(facts, admission);
  const nodes = nodesOf(facts, profiles, { now, all });
  const faults = [
    ...(presence.result === 'failed' ? [notInstalled(presence, namespaces)] : faultsOf(findings)),
    ...(namespace !== undefined && namespaces.length === 0 ? [notOptedIn(facts, namespace)] : []),
    // what the labels ask for is not known with another configuration
    ...(configuration.trouble ? [] : [...ofLabels, ...missingOf(facts, profiles)]),
  ];
  const proofs = countProofs(pods);
  const ofPods = {
    heldPods: heldPods(
      facts,
      features.find(({ feature }) => feature === 'steer') ?? { inForce: null, why: '' },
    ),
    unprovedPods: unprovedPods(pods),
    failedPods: failedPods(facts),
    waitingPods: waitingPods(facts, now),
    duplicateAddresses: duplicateAddresses(pods),
  };
  const isRight = nodes.areReady && [faults, ...Object.values(ofPods)].every(({ length }) => length === 0);
  const notKnown = Object.values(findings).flatMap(({ result, essential, what }) =>
    result === 'not-known' && essential ? [what] : [],
  );
  const verdict = verdictOf(presence, isRight, notKnown);
  const status = {
    time: timeText(now),
    verdict,
    well: verdict === 'well',
    cluster,
    configuration: configuration.source,
    features,
    installation: checksFrom(admission),
    notKnown,
    probe: probe ?? null,
    namespace: namespace ?? null,
    namespaces: namespaces.map((one) => ({ ...one, pods: proofs.of(one.name) })),
    pods: proofs.total,
    waits: waitsOf(pods),
    unprovedNodes: nodes.unproved,
    daemonSets: nodes.daemonSets,
    nodes: nodes.nodes,
    faults,
    ...ofPods,
    nodeProofs: nodes.proofs,
    leftBehind: [],
    ...(verdict === 'not-installed' && withoutInstallation(features, facts, namespaces)),
  };
  const { time, verdict: is, ...rest } = status;
  return { time, verdict: is, headline: headline(status), ...rest };
}

/** A probe that was asked for and not made leaves the verdict open. */
function probeFinding(facts: StatusFacts): Finding {
  const finding = checkProbe(facts, false);
  return finding.result === 'skipped' && facts.probe?.outcome === 'not-made'
    ? { ...finding, result: 'not-known', essential: true }
    : finding;
}

function verdictOf(presence: Finding, isRight: boolean, notKnown: readonly string[]): Verdict {
  if (presence.result === 'failed') return 'not-installed';
  if (!isRight) return 'not-well';
  return notKnown.length > 0 ? 'not-known' : 'well';
}

/** What DaemonSets and proofs say of the nodes. */
function nodesOf(facts: StatusFacts, profiles: ReadonlySet<string>, { now, all }: StatusOptions) {
  const { pods, readiness, namespace } = facts;
  const { policy } = facts.configuration;
  // with one namespace, the pods of others are not known
  const whole = namespace === undefined;
  const known = knownFrom(pods, policy, readiness, now);
  const refine = refineBy(known, policy, now, whole);
  const { daemonSets, nodes, isReady, unproved } = judgeDaemonSets(policy, readiness, profiles, {
    now,
    all,
    refine,
  });
  const proofs = nodeProofs(known, policy, profiles, { now, whole });
  for (const { node, profile, state } of proofs) {
    const hasNone = policy.profiles.get(profile)?.daemonSets.length === 0;
    if (hasNone && state === 'unproved') unproved.add(node);
  }
  const failing = proofs.filter(({ state }) => state === 'failing');
  return {
    daemonSets,
    nodes,
    unproved: unproved.size,
    areReady: isReady && failing.length === 0,
    proofs: all ? proofs : failing,
  };
}

/** The faults of checks that failed, what breaks others first. */
const faultsOf = (findings: Record<string, Finding>): Fault[] =>
  Object.values(findings).flatMap(({ code, what, hint }) =>
    code === null ? [] : [{ code, message: `${what}. ${hint}` }],
  );

function notInstalled({ what }: Finding, namespaces: readonly OptedIn[]): Fault {
  const names = namespaces.map(({ name }) => name);
  const unchecked =
    names.length === 0
      ? ''
      : ` cni-gate checks no pods of the namespaces that opted in: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ' and others' : ''}.`;
  const message = `${what}.${unchecked} To install it: https://github.com/cni-gate/cni-gate/blob/main/docs/guides/install.md`;
  return { code: 'CNI_GATE_NOT_INSTALLED', message };
}

const missingOf = ({ configuration, readiness }: StatusFacts, profiles: ReadonlySet<string>): Fault[] => {
  const { policy } = configuration;
  const named = [...policy.profiles.values()].flatMap(({ daemonSets }) => daemonSets);
  return missingDaemonSets(
    policy,
    profiles,
    named.filter((one) => readiness.knows(one)),
  );
};

function notOptedIn({ configuration }: StatusFacts, namespace: string): Fault {
  const names = [...configuration.policy.profiles.keys()].join(', ');
  const message = `namespace ${namespace} has not opted in, so nothing of it is held or proved: kubectl label --overwrite namespace ${namespace} ${profileLabel}=PROFILE, of ${names}, or several joined by dots`;
  return { code: 'CNI_GATE_NOT_OPTED_IN', message };
}
