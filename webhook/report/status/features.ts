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

const invalid = 'the ConfigMap is not valid, and replicas that run keep the last valid configuration';

/** What cni-gate does in the cluster: by its configuration, by its registration, and by whether calls succeed. */
export function featuresOf(facts: StatusFacts, checks: AdmissionChecks): FeatureStatus[] {
  const { trouble, policy } = facts.configuration;
  const { proof, gate, steer, repair } = policy;
  const { leader } = checks;
  const leaderless = because(leader.result === 'failed' && leader.what);
  /** @param byMode why the configuration keeps the feature off @param byCluster why something else does */
  const judge = (
    feature: FeatureStatus['feature'],
    mode: string,
    byMode: Reason,
    byCluster: Reason,
  ): FeatureStatus => {
    if (trouble && (byCluster === undefined || byCluster.isUnknown))
      return { feature, mode: 'not known', inForce: null, why: invalid };
    const reason = trouble ? byCluster : (byMode ?? byCluster);
    const inForce = reason === undefined || (reason.isUnknown ? null : false);
    return { feature, mode: trouble ? 'not known' : mode, inForce, why: reason?.why ?? '' };
  };
  const proving = judge(
    'prove',
    proof.mode,
    because(proof.mode === 'warn' && 'it reports failed checks, and lets the pod start'),
    notCalled(facts, checks, 'mutating', checks['webhook-pods']),
  );
  const gating = judge(
    'gate',
    gate.mode,
    because(gate.mode === 'audit' && 'it reports what it would reject, and allows it'),
    notCalled(facts, checks, 'validating', checks['webhook-bindings']),
  );
  const pending = because(steer.mode === 'off' && 'pods that are refused wait');
  return [
    proving,
    gating,
    judge('steer', steer.mode, pending, notSteering(facts, gating) ?? leaderless),
    judge('repair', repair.mode, notRepairing(facts), stopped(facts) ?? leaderless),
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

function notRepairing({ configuration }: StatusFacts): Reason {
  const { repair, proof } = configuration.policy;
  if (repair.mode === 'off') return { why: 'pods whose proof failed stay as they are' };
  return because(
    (repair.mode === 'audit' || proof.mode === 'warn') &&
      'it reports what it would delete, and deletes nothing',
  );
}

function stopped({ pods, events }: StatusFacts): Reason {
  const isStopped = pods.some(({ evidence }) => evidence && events.get(evidence.uid)?.stopped === true);
  return because(isStopped && 'it has stopped: most recreated pods failed again');
}

function notSteering({ version }: StatusFacts, { inForce }: FeatureStatus): Reason {
  if (inForce === null) return { why: 'whether the gate is in force is not known', isUnknown: true };
  if (!inForce) return { why: 'the gate is not in force, so no pod is refused' };
  const found = foundIn(version);
  if (found === undefined) return { why: "the cluster's version may not be read", isUnknown: true };
  return because(
    !found.usesNominations && `the scheduler of Kubernetes ${found.text} does not use nominations`,
  );
}
