import type { Policy } from '../config/policy.ts';
import { profileLabel, webhookConfiguration } from '../lib/names.ts';
import { timeText } from '../lib/time-text.ts';
import { clusterIdentity } from './cluster-identity.ts';
import { compare, judgeDaemonSets, type OptedIn, profilesInUse, textOf } from './daemon-sets.ts';
import { duplicateAddresses, failedPods, isRepairStopped, waitingPods, waitsOf } from './evidence.ts';
import type { PodFacts, ProbeFacts, StatusFacts } from './facts.ts';
import { headline } from './headline.ts';
import { type Installation, judgeInstallation } from './installation/judge.ts';
import { withoutInstallation } from './left-behind.ts';
import type { Fault, HeldPod, Status, UnprovedPod, Verdict } from './model.ts';
import { knownFrom, nodeProofs, refineBy } from './node-proofs.ts';
import { probeAdvice } from './probe.ts';
import { countProofs, unprovedText } from './proof.ts';
import { whyUnsent } from './unsent.ts';
import { verbsOf } from './verbs.ts';

/** What a status depends on beside the facts. */
export interface StatusOptions {
  /** The cluster that was asked. */
  client: Parameters<typeof clusterIdentity>[0];
  /** Where the configuration is from. */
  configuration: string;
  /** Why it is not that of the installation. Nothing is then said about labels and missing DaemonSets. */
  trouble?: Fault | undefined;
  /** Milliseconds since the epoch. */
  now: number;
  /** Nodes that are ready or exempt as well. */
  all: boolean;
  /** The only namespace that was asked about. */
  namespace: string | undefined;
}

/** The status of what is known of a cluster. The same facts at the same time give the same status, in one order. */
export function statusOf(facts: StatusFacts, options: StatusOptions): Status {
  const { client, configuration, trouble, now, all, namespace } = options;
  const { policy } = facts;
  const namespaces = [...facts.namespaces]
    .flatMap(({ name, profile }) => (profile === undefined ? [] : [{ name, profile }]))
    .toSorted((one, other) => compare(one.name, other.name));
  const pods = [...facts.pods].toSorted(
    (one, other) => compare(one.namespace, other.namespace) || compare(one.name, other.name),
  );
  const asked = new Set(pods.flatMap(({ profile }) => profile ?? []));
  const { profiles, faults: ofLabels } = profilesInUse(policy, namespaces, asked);
  const { probe } = facts;
  const installation = withoutModes(judgeInstallation({ ...facts, probe, now }), trouble);
  const { verbs, faults: ofWebhooks } = verbsOf(
    { ...facts, repairStopped: isRepairStopped(pods, facts) },
    installation,
    namespaces.length > 0,
  );
  const faults = installationFaults(installation, ofWebhooks, probe, namespaces);
  if (trouble === undefined) faults.push(...ofLabels);
  // one that is not installed is the cause of more
  else faults.splice(installation.present === false ? 1 : 0, 0, trouble);
  if (namespace !== undefined && namespaces.length === 0) faults.push(notOptedIn(namespace, policy));
  // with one namespace, the pods of others are not known
  const whole = namespace === undefined;
  const known = knownFrom(pods, policy, facts.readiness, now);
  const refine = refineBy(known, policy, now, whole);
  const { daemonSets, nodes, missing, ready, unproved } = judgeDaemonSets(facts, profiles, {
    now,
    all,
    refine,
  });
  const proofsOfNodes = nodeProofs(known, policy, profiles, { now, whole });
  for (const { node, profile, state } of proofsOfNodes) {
    const hasNone = policy.profiles.get(profile)?.daemonSets.length === 0;
    if (hasNone && state === 'unproved') unproved.add(node);
  }
  const failing = proofsOfNodes.some(({ state }) => state === 'failing');
  if (trouble === undefined) faults.push(...missing);
  const steer = verbs.find(({ verb }) => verb === 'steer') ?? { inForce: null, why: '' };
  const unsent = whyUnsent({ ...facts, pods }, steer, now);
  const heldPods = pods.flatMap((pod) => heldOf(pod, unsent));
  const proofs = countProofs(pods);
  const unprovedPods = pods.flatMap(unprovedOf);
  const ofEvidence = {
    failedPods: failedPods(pods, facts, policy.repair.mode),
    waitingPods: waitingPods(pods, facts, now),
    duplicateAddresses: duplicateAddresses(pods),
  };
  const troubles = [faults, heldPods, unprovedPods, ...Object.values(ofEvidence)];
  const right = ready && !failing && troubles.every(({ length }) => length === 0);
  const notKnown = [...installation.blind, ...unregistered(facts), ...unmade(probe)];
  const verdict = verdictOf(installation, right, notKnown);
  const status = {
    time: timeText(now),
    verdict,
    well: verdict === 'well',
    cluster: clusterIdentity(client, facts.installation.deployment),
    configuration,
    verbs,
    installation: installation.parts,
    notKnown,
    probe: probe ?? null,
    namespace: namespace ?? null,
    namespaces: namespaces.map((one) => ({ ...one, pods: proofs.of(one.name) })),
    pods: proofs.total,
    waits: waitsOf(pods),
    unprovedNodes: unproved.size,
    daemonSets,
    nodes,
    heldPods,
    unprovedPods,
    faults,
    ...ofEvidence,
    nodeProofs: all ? proofsOfNodes : proofsOfNodes.filter(({ state }) => state === 'failing'),
    leftBehind: [],
    ...(verdict === 'not-installed' && withoutInstallation(verbs, { ...facts, namespaces })),
  };
  const { time, verdict: is, ...rest } = status;
  return { time, verdict: is, headline: headline(status), ...rest };
}

function verdictOf({ present }: Installation, right: boolean, notKnown: string[]): Verdict {
  if (present === false) return 'not-installed';
  if (!right) return 'not-well';
  return notKnown.length > 0 ? 'not-known' : 'well';
}

/** Without the faults that are none in other modes, where the configuration is not known. */
function withoutModes(installation: Installation, trouble: Fault | undefined): Installation {
  if (trouble === undefined) return installation;
  const faults = installation.results.flatMap(({ fault, byMode }) => (fault && !byMode ? [fault] : []));
  return { ...installation, faults };
}

/** What is wrong with the installation, what hinders most first. Nothing is missing of one that is not there. */
function installationFaults(
  { present, faults }: Installation,
  ofWebhooks: Fault[],
  probe: ProbeFacts | undefined,
  namespaces: OptedIn[],
): Fault[] {
  if (present === false) return [notInstalled(namespaces)];
  const failed: Fault[] =
    probe?.outcome === 'failed'
      ? [
          {
            code: 'CNI_GATE_PROBE',
            message: `a new pod in namespace ${probe.namespace}: ${probe.what}. ${probeAdvice(probe.reason)}`,
          },
        ]
      : [];
  return [...ofWebhooks, ...faults, ...failed];
}

function notInstalled(namespaces: OptedIn[]): Fault {
  const names = namespaces.map(({ name }) => name);
  const reported =
    names.length === 0
      ? ''
      : ` cni-gate checks no pods of the namespaces that opted in: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ' and others' : ''}.`;
  const message = `cni-gate is not installed: this cluster has no webhook configuration, Service or Deployment of it.${reported} To install it: https://github.com/cni-gate/cni-gate/blob/main/docs/guides/install.md`;
  return { code: 'CNI_GATE_NOT_INSTALLED', message };
}

/** Webhook configurations that may not be read: without them nothing is known about admission. */
function unregistered({ registered }: StatusFacts): string[] {
  return (['mutating', 'validating'] as const).flatMap((kind) =>
    registered[kind] === undefined
      ? [`${kind}webhookconfiguration/${webhookConfiguration}: it may not be read`]
      : [],
  );
}

const unmade = (probe: ProbeFacts | undefined): string[] =>
  probe?.outcome === 'not-made' ? [`the probe was not made: ${probe.what}`] : [];

function notOptedIn(namespace: string, { profiles }: Policy): Fault {
  const names = [...profiles.keys()].join(', ');
  const message = `namespace ${namespace} has not opted in, so nothing of it is held or proved: kubectl label --overwrite namespace ${namespace} ${profileLabel}=PROFILE, of ${names}, or several joined by dots`;
  return { code: 'CNI_GATE_NOT_OPTED_IN', message };
}

function heldOf({ namespace, name, held }: PodFacts, unsent: ReturnType<typeof whyUnsent>): HeldPod[] {
  if (held === undefined) return [];
  const { refused, since, nominated, why, pod } = held;
  return [
    {
      namespace,
      name,
      refused,
      since: textOf(since),
      nominated: nominated || null,
      unsent: unsent(pod),
      why,
    },
  ];
}

function unprovedOf({ namespace, name, node, unproved: reason }: PodFacts): UnprovedPod[] {
  if (reason === undefined) return [];
  return [{ namespace, name, node: node ?? null, reason, why: unprovedText[reason] }];
}
