import { usesNominations } from '../../leader/steering/version.ts';
import { installedWebhooks } from '../../lib/names.ts';
import type { StatusFacts } from '../observe/observe.ts';
import type { CheckRow } from './catalogue.ts';
import { isGone } from './installation.ts';
import { isProofOnly } from './policies.ts';

type Feature = 'prove' | 'gate' | 'steer' | 'repair';

/** The state of one of the four features of cni-gate. */
export interface FeatureRow {
  feature: Feature;
  /** The feature's mode in the configuration. */
  mode: string;
  /** Whether the feature works in the cluster; null where that is not known. */
  inForce: boolean | null;
  /** Why the feature does not work, or why that is not known; empty where it works. */
  why: string;
}

/** What happens instead, in the modes in which a feature does not act. */
const otherwise: Record<Feature, Record<string, string>> = {
  prove: { warn: 'it reports failed checks, and lets the pod start' },
  gate: { audit: 'it reports what it would reject, and allows it' },
  steer: { off: 'pods that are refused wait' },
  repair: {
    off: 'pods whose proof failed stay as they are',
    audit: 'it reports what it would delete, and deletes nothing',
  },
};

/** Why a feature is not in force, or why that is not known. */
type Reason = Pick<FeatureRow, 'inForce' | 'why'>;

const off = (why: string): Reason => ({ inForce: false, why });
const notKnown = (why: string): Reason => ({ inForce: null, why });

const unknownMode = notKnown(
  'the ConfigMap is not valid, and replicas that run keep the last valid configuration',
);

/** Judges each feature by its configuration, by its registration, and by whether calls of the webhooks succeed. */
export function featureRows(facts: StatusFacts, checks: readonly CheckRow[]): FeatureRow[] {
  const { trouble, policy } = facts.configuration;
  const { proof, gate, steer, repair } = policy;
  const row = (feature: Feature, mode: string, inCluster: Reason | undefined, acts = mode): FeatureRow => {
    if (isGone(facts)) return { feature, mode, ...off('cni-gate is not installed') };
    if (feature !== 'prove' && isProofOnly(facts))
      return { feature, mode, ...off('not installed: there are policies, and no server') };
    if (trouble)
      return { feature, mode: 'not known', ...(inCluster?.inForce === false ? inCluster : unknownMode) };
    const why = otherwise[feature][acts];
    return { feature, mode, inForce: true, why: '', ...(why === undefined ? inCluster : off(why)) };
  };
  const leader = failureOf(checks, 'leader');
  const gating = row('gate', gate.mode, notCalled(facts, checks, 'validating'));
  const isAudit = proof.mode === 'warn' && repair.mode === 'recreate';
  return [
    row('prove', proof.mode, notProving(facts, checks)),
    gating,
    row('steer', steer.mode, notSteering(facts, gating) ?? leader),
    row('repair', repair.mode, stopped(facts) ?? leader, isAudit ? 'audit' : repair.mode),
  ];
}

/** What the check `id` saw, if it failed. */
function failureOf(checks: readonly CheckRow[], id: CheckRow['id']): Reason | undefined {
  const failure = checks.find((check) => check.id === id && check.result === 'failed');
  return failure && off(failure.what);
}

/** Why new pods get no proof. A mutating policy injects it inside the API server, so the webhook is not needed. */
function notProving(facts: StatusFacts, checks: readonly CheckRow[]): Reason | undefined {
  const policy = checks.find(({ id }) => id === 'mutating-policy');
  if (policy?.result === 'passed') return undefined;
  return failureOf(checks, 'mutating-policy') ?? notCalled(facts, checks, 'mutating');
}

/** Why the API server does not call our webhooks of this kind, or does not trust the server behind them. */
function notCalled(
  { installation }: StatusFacts,
  checks: readonly CheckRow[],
  kind: keyof typeof installedWebhooks,
): Reason | undefined {
  const id = kind === 'mutating' ? 'webhook-pods' : 'webhook-bindings';
  const unknown = checks.find((check) => check.id === id && check.result === 'not-known');
  if (unknown) return notKnown(unknown.what);
  const names: readonly string[] = installedWebhooks[kind];
  const distrusted = installation.certificate.found?.webhooks.some(
    ({ name, fault }) => fault !== undefined && names.includes(name),
  );
  return (
    failureOf(checks, id) ??
    failureOf(checks, 'service') ??
    (distrusted ? failureOf(checks, 'certificate') : undefined)
  );
}

function stopped({ pods, events }: StatusFacts): Reason | undefined {
  const isStopped = pods.found.some(({ evidence }) => evidence && events.get(evidence.uid)?.stopped === true);
  return isStopped ? off('it has stopped: most recreated pods failed again') : undefined;
}

function notSteering({ version: { found } }: StatusFacts, { inForce }: FeatureRow): Reason | undefined {
  if (inForce === null) return notKnown('whether the gate is in force is not known');
  if (!inForce) return off('the gate is not in force, so no pod is refused');
  if (found === undefined) return notKnown("the cluster's version may not be read");
  return usesNominations(found)
    ? undefined
    : off(`the scheduler of Kubernetes ${found.gitVersion} does not use nominations`);
}
