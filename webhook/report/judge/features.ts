import { installedWebhooks } from '../../lib/names.ts';
import type { StatusFacts } from '../observe/observe.ts';
import type { CheckRow } from './catalogue.ts';
import { isGone } from './installation.ts';

/** One of the things that cni-gate does in a cluster. */
export interface FeatureRow {
  feature: 'prove' | 'gate' | 'steer' | 'repair';
  /** Of the configuration. */
  mode: string;
  /** Whether it does what its name says; null where that is not known. */
  inForce: boolean | null;
  /** Why it does not, or why that is not known; empty where it does. */
  why: string;
}

/** Why something is not in force, or why that is not known. */
interface Reason {
  why: string;
  isUnknown?: boolean;
}

/** What cni-gate does in the cluster: by its configuration, by its registration, and by whether calls succeed. */
export function featureRows(facts: StatusFacts, checks: readonly CheckRow[]): FeatureRow[] {
  const { trouble, policy } = facts.configuration;
  const { proof, gate, steer, repair } = policy;
  /** @param byMode why the configuration keeps it off; '' if it does not @param byCluster why something else does */
  const row = (
    feature: FeatureRow['feature'],
    mode: string,
    byMode: string,
    byCluster: Reason | undefined,
  ): FeatureRow => {
    const why = 'the ConfigMap is not valid, and replicas that run keep the last valid configuration';
    const shownMode = trouble ? 'not known' : mode;
    if (trouble && (byCluster === undefined || byCluster.isUnknown))
      return { feature, mode: shownMode, inForce: null, why };
    const reason = trouble || byMode === '' ? byCluster : { why: byMode };
    const inForce = reason === undefined || (reason.isUnknown ? null : false);
    return { feature, mode: shownMode, inForce, why: reason?.why ?? '' };
  };
  const gone = isGone(facts) ? { why: 'cni-gate is not installed' } : undefined;
  const leader = failureOf(checks, 'leader');
  const warns = proof.mode === 'warn' ? 'it reports failed checks, and lets the pod start' : '';
  const audits = gate.mode === 'audit' ? 'it reports what it would reject, and allows it' : '';
  const waits = steer.mode === 'off' ? 'pods that are refused wait' : '';
  const isAudit = repair.mode === 'audit' || proof.mode === 'warn';
  const reports = isAudit ? 'it reports what it would delete, and deletes nothing' : '';
  const leaves = repair.mode === 'off' ? 'pods whose proof failed stay as they are' : reports;
  const gating = row('gate', gate.mode, audits, gone ?? notCalled(facts, checks, 'validating'));
  return [
    row('prove', proof.mode, warns, gone ?? notCalled(facts, checks, 'mutating')),
    gating,
    row('steer', steer.mode, waits, gone ?? notSteering(facts, gating) ?? leader),
    row('repair', repair.mode, leaves, gone ?? stopped(facts) ?? leader),
  ];
}

/** What a check that failed saw. */
function failureOf(checks: readonly CheckRow[], id: CheckRow['id']): Reason | undefined {
  const failure = checks.find((check) => check.id === id && check.result === 'failed');
  return failure && { why: failure.what };
}

/** Why the API server does not call the webhooks of a kind, or does not accept what answers. */
function notCalled(
  { installation }: StatusFacts,
  checks: readonly CheckRow[],
  kind: keyof typeof installedWebhooks,
): Reason | undefined {
  const id = kind === 'mutating' ? 'webhook-pods' : 'webhook-bindings';
  const unknown = checks.find((check) => check.id === id && check.result === 'not-known');
  if (unknown) return { why: unknown.what, isUnknown: true };
  const failure = failureOf(checks, id) ?? failureOf(checks, 'service');
  if (failure) return failure;
  const names: readonly string[] = installedWebhooks[kind];
  const distrusted = installation.certificate.found?.webhooks.find(
    ({ name, fault }) => fault !== undefined && names.includes(name),
  );
  if (!distrusted) return undefined;
  return {
    why: `the API server does not accept the certificate for ${distrusted.name}: ${distrusted.fault}`,
  };
}

function stopped({ pods, events }: StatusFacts): Reason | undefined {
  const isStopped = pods.found.some(({ evidence }) => evidence && events.get(evidence.uid)?.stopped === true);
  return isStopped ? { why: 'it has stopped: most recreated pods failed again' } : undefined;
}

function notSteering({ version: { found } }: StatusFacts, { inForce }: FeatureRow): Reason | undefined {
  if (inForce === null) return { why: 'whether the gate is in force is not known', isUnknown: true };
  if (!inForce) return { why: 'the gate is not in force, so no pod is refused' };
  if (found === undefined) return { why: "the cluster's version may not be read", isUnknown: true };
  if (found.usesNominations) return undefined;
  return { why: `the scheduler of Kubernetes ${found.text} does not use nominations` };
}
