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

/** Whether something holds, and why not, or why that is not known. */
type InForce = Pick<FeatureStatus, 'inForce' | 'why'>;

const yes: InForce = { inForce: true, why: '' };
const no = (why: string): InForce => ({ inForce: false, why });

/** What cni-gate does in the cluster: by its configuration, by its registration, and by whether calls succeed. */
export function featuresOf(facts: StatusFacts, checks: AdmissionChecks): FeatureStatus[] {
  const { configuration } = facts;
  const { proof, gate, steer, repair } = configuration.policy;
  const proving = called(facts, checks, 'mutating', checks['webhook-pods']);
  const gating =
    gate.mode === 'audit'
      ? no('it reports what it would reject, and allows it')
      : called(facts, checks, 'validating', checks['webhook-bindings']);
  const warns = no('it reports failed checks, and lets the pod start');
  const { what, result } = checks.leader;
  const led = (is: InForce): InForce => (is.inForce && result === 'failed' ? no(causeOf(what)) : is);
  return [
    { feature: 'prove', mode: proof.mode, ...(proof.mode === 'warn' ? warns : proving) },
    { feature: 'gate', mode: gate.mode, ...gating },
    { feature: 'steer', mode: steer.mode, ...led(steering(facts, gating)) },
    { feature: 'repair', mode: repair.mode, ...led(repairing(facts)) },
  ];
}

/** Whether the API server calls the webhooks of a kind, and accepts what answers. */
function called(
  { installation }: StatusFacts,
  { service }: AdmissionChecks,
  kind: keyof typeof installedWebhooks,
  { result, what }: Finding,
): InForce {
  if (result === 'not-known') return { inForce: null, why: what };
  if (result === 'failed') return no(what);
  if (service.result === 'failed') return no(causeOf(service.what));
  const names: readonly string[] = installedWebhooks[kind];
  const distrusted = foundIn(installation.certificate)?.webhooks.find(
    ({ name, fault }) => fault !== undefined && names.includes(name),
  );
  return distrusted
    ? no(`the API server does not accept the certificate for ${distrusted.name}: ${distrusted.fault}`)
    : yes;
}

/** What is wrong, without what comes of it. */
const causeOf = (what: string): string => what.split(', so ')[0] ?? what;

function repairing({ configuration, pods, events }: StatusFacts): InForce {
  const { repair, proof } = configuration.policy;
  if (repair.mode === 'off') return no('pods whose proof failed stay as they are');
  if (repair.mode === 'audit') return no('it reports what it would delete, and deletes nothing');
  if (proof.mode === 'warn')
    return no('with proof.mode warn it reports what it would delete, and deletes nothing');
  const stopped = pods.some(({ evidence }) => evidence && events.get(evidence.uid)?.stopped === true);
  return stopped ? no('it has stopped: most recreated pods failed again') : yes;
}

function steering({ configuration, version }: StatusFacts, gating: InForce): InForce {
  if (configuration.policy.steer.mode === 'off') return no('pods that are refused wait');
  if (gating.inForce === false) return no('the gate is not in force, so no pod is refused');
  const found = foundIn(version);
  if (found === undefined) return { inForce: null, why: "the cluster's version may not be read" };
  if (!found.usesNominations) return no(`the scheduler of Kubernetes ${found.text} does not use nominations`);
  return gating.inForce === null ? { inForce: null, why: 'whether the gate is in force is not known' } : yes;
}
