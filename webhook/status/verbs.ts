import type { Policy } from '../config/policy.ts';
import { gateWebhooks, installedWebhooks, webhookConfiguration } from '../lib/names.ts';
import { version } from '../lib/version.ts';
import type { Registered, RegisteredWebhook, StatusFacts } from './facts.ts';
import type { Installation } from './installation/judge.ts';
import { changesOf } from './installation/webhook-rules.ts';
import type { Fault, VerbStatus } from './model.ts';

/** Whether something holds, and why not, or why that is not known. */
type Finding = Pick<VerbStatus, 'inForce' | 'why'>;

/**
 * What cni-gate does in the cluster: by its configuration, by its registration, and by whether calls get through.
 *
 * @param facts `repairStopped`: whether the leader says so on a pod
 * @param optedIn whether any namespace has
 */
export function verbsOf(
  facts: Pick<StatusFacts, 'policy' | 'registered' | 'scheduler'> & { repairStopped?: boolean },
  installation: Pick<Installation, 'hindered' | 'leaderless'>,
  optedIn: boolean,
): { verbs: VerbStatus[]; faults: Fault[] } {
  const { policy, registered } = facts;
  const { proof, gate, steer, repair } = policy;
  const { hindered, leaderless } = installation;
  const called = registrationsOf(registered);
  const proving = through(called.prove, hindered.mutating);
  const gating =
    gate.mode === 'audit'
      ? no('it reports what it would reject, and allows it')
      : through(called.gate, hindered.validating);
  const verbs: VerbStatus[] = [
    {
      verb: 'prove',
      mode: proof.mode,
      ...(proof.mode === 'warn' ? no('it reports failed checks, and lets the pod start') : proving),
    },
    { verb: 'gate', mode: gate.mode, ...gating },
    { verb: 'steer', mode: steer.mode, ...through(steering(policy, gating, facts.scheduler), leaderless) },
    { verb: 'repair', mode: repair.mode, ...through(repairing(policy, facts.repairStopped), leaderless) },
  ];
  const faults = Object.values(called).flatMap(({ inForce, why, changed }): Fault[] => {
    if (changed !== undefined)
      return [{ code: 'CNI_GATE_NOT_REGISTERED', message: `${changed.what}. ${changed.advice}` }];
    if (inForce !== false) return [];
    return [
      { code: 'CNI_GATE_NOT_REGISTERED', message: optedIn ? `${why}, and namespaces have opted in` : why },
    ];
  });
  return { verbs, faults };
}

/** Whether webhooks are called, and where one of them was changed: how, and what to do. */
export interface Called extends Finding {
  changed?: { what: string; advice: string };
}

/** Whether the API server calls the webhook for pods, and those of the gate, as the manifests ask. */
export const registrationsOf = ({ mutating, validating }: Registered): { prove: Called; gate: Called } => ({
  prove: calledFor('mutating', installedWebhooks.mutating, mutating),
  gate: calledFor('validating', gateWebhooks, validating),
});

const yes: Finding = { inForce: true, why: '' };
const no = (why: string): Finding => ({ inForce: false, why });

/** A finding, unless something is known to be in the way. */
const through = (finding: Finding, hindrance: string | undefined): Finding =>
  finding.inForce === false || hindrance === undefined ? finding : no(hindrance);

/**
 * Whether the API server has all of these webhooks of a kind, can trust who answers them, and calls them for what the
 * manifests name.
 */
function calledFor(
  kind: keyof typeof installedWebhooks,
  names: readonly string[],
  found: readonly RegisteredWebhook[] | undefined,
): Called {
  const where = `${kind}webhookconfiguration/${webhookConfiguration}`;
  if (found === undefined) return { inForce: null, why: `${where} may not be read` };
  const trust = new Map(found.map(({ name, trusted }) => [name, trusted]));
  const missing = names.filter((name) => !trust.has(name));
  if (missing.length > 0) return no(`there is no webhook ${missing.join(', ')} in ${where}`);
  const distrusted = names.filter((name) => !trust.get(name));
  if (distrusted.length > 0) return no(`there is no caBundle for ${distrusted.join(', ')} in ${where}`);
  return unchanged(
    where,
    found.filter(({ name }) => names.includes(name)),
  );
}

/** Whether webhooks are as in the manifests. A change that lets no request pass the webhook by is a fault as well. */
function unchanged(where: string, webhooks: readonly RegisteredWebhook[]): Called {
  const changes = webhooks.map(({ name, rules }) => ({ name, fields: changesOf(name, rules) }));
  const texts = changes.flatMap(({ name, fields }) =>
    fields.length > 0 ? `${fields.map(({ field }) => field).join(', ')} of ${name}` : [],
  );
  if (texts.length === 0) return yes;
  const why = `${where} is not as in the manifests of cni-gate ${version}: ${texts.join('; ')}`;
  const defeated = changes.some(({ fields }) => fields.some(({ defeats }) => defeats));
  const advice =
    `Apply the manifests again; apply keeps what somebody else added: remove that with "kubectl edit ${where}". ` +
    'If another release is installed, run the "status" of that one';
  return { ...(defeated ? no(why) : yes), changed: { what: why, advice } };
}

function repairing({ repair, proof }: Policy, stopped = false): Finding {
  if (repair.mode === 'off') return no('pods whose proof failed stay as they are');
  if (repair.mode === 'audit') return no('it reports what it would delete, and deletes nothing');
  if (proof.mode === 'warn')
    return no('with proof.mode warn it reports what it would delete, and deletes nothing');
  return stopped ? no('it has stopped: most recreated pods failed again') : yes;
}

function steering({ steer }: Policy, gating: Finding, scheduler: StatusFacts['scheduler']): Finding {
  if (steer.mode === 'off') return no('pods that are refused wait');
  if (gating.inForce === false) return no('the gate is not in force, so no pod is refused');
  if (scheduler === undefined) return { inForce: null, why: "the cluster's version may not be read" };
  if (!scheduler.goesByNominations)
    return no(`the scheduler of Kubernetes ${scheduler.version} does not go by nominations`);
  return gating.inForce === null ? { inForce: null, why: 'whether the gate is in force is not known' } : yes;
}
