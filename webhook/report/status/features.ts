import { installedWebhooks } from '../../lib/names.ts';
import type { Finding } from '../checks/finding.ts';
import type { AdmissionChecks } from '../checks/installed.ts';
import type { StatusFacts } from '../facts/collect.ts';
import { foundIn } from '../facts/observation.ts';

/** One of the things that cni-gate does in a cluster. */
interface FeatureStatus {
  feature: 'prove' | 'gate' | 'steer' | 'repair';
  /** Of the configuration. */
  mode: string;
  /** Whether it does what its name says; null where that is not known. */
  inForce: boolean | null;
  /** Why it does not, or why that is not known; empty where it does. */
  why: string;
}

/** Why something is not in force, or why that is not known; undefined where it is. */
type Reason = { why: string; isUnknown?: boolean } | undefined;

const because = (why: string | false): Reason => (why === false ? undefined : { why });

/** What cni-gate does in the cluster: by its configuration, by its registration, and by whether calls succeed. */
export function featuresOf(facts: StatusFacts, checks: AdmissionChecks): FeatureStatus[] {
  const { proof, gate, steer, repair } = facts.configuration.policy;
  const { leader } = checks;
  const leaderless = because(leader.result === 'failed' && leader.what);
  const ungated =
    because(gate.mode === 'audit' && 'it reports what it would reject, and allows it') ??
    notCalled(facts, checks, 'validating', checks['webhook-bindings']);
  const unproving =
    because(proof.mode === 'warn' && 'it reports failed checks, and lets the pod start') ??
    notCalled(facts, checks, 'mutating', checks['webhook-pods']);
  const judge = (feature: FeatureStatus['feature'], mode: string, reason: Reason): FeatureStatus => {
    const inForce = reason === undefined || (reason.isUnknown ? null : false);
    return { feature, mode, inForce, why: reason?.why ?? '' };
  };
  return [
    judge('prove', proof.mode, unproving),
    judge('gate', gate.mode, ungated),
    judge('steer', steer.mode, notSteering(facts, ungated) ?? leaderless),
    judge('repair', repair.mode, notRepairing(facts) ?? leaderless),
  ];
}

/** Why the API server does not call the webhooks of a kind, or does not accept what answers. */
function notCalled(
  { installation }: StatusFacts,
  { service }: AdmissionChecks,
  kind: keyof typeof installedWebhooks,
  { result, what }: Finding,
): Reason {
  if (result === 'not-known') return { why: what, isUnknown: true };
  if (result === 'failed') return { why: what };
  if (service.result === 'failed') return { why: service.what };
  const names: readonly string[] = installedWebhooks[kind];
  const found = foundIn(installation.certificate)?.webhooks.find(
    ({ name, fault }) => fault !== undefined && names.includes(name),
  );
  return found && because(`the API server does not accept the certificate for ${found.name}: ${found.fault}`);
}

function notRepairing({ configuration, pods, events }: StatusFacts): Reason {
  const { repair, proof } = configuration.policy;
  const stopped = pods.some(({ evidence }) => evidence && events.get(evidence.uid)?.stopped === true);
  if (repair.mode === 'off') return { why: 'pods whose proof failed stay as they are' };
  if (repair.mode === 'audit' || proof.mode === 'warn')
    return { why: 'it reports what it would delete, and deletes nothing' };
  return because(stopped && 'it has stopped: most recreated pods failed again');
}

function notSteering({ configuration, version }: StatusFacts, ungated: Reason): Reason {
  if (configuration.policy.steer.mode === 'off') return { why: 'pods that are refused wait' };
  if (ungated?.isUnknown) return { why: 'whether the gate is in force is not known', isUnknown: true };
  if (ungated) return { why: 'the gate is not in force, so no pod is refused' };
  const found = foundIn(version);
  if (found === undefined) return { why: "the cluster's version may not be read", isUnknown: true };
  return because(
    !found.usesNominations && `the scheduler of Kubernetes ${found.text} does not use nominations`,
  );
}
