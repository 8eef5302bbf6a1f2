import { isSince, leastVersion, usesNominations } from '../../leader/steering/version.ts';
import { installedDeployment, installedService, leaderLease } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import { accountIn, type InstallationFacts, isRollingOut } from '../observe/installation.ts';
import type { Facts } from '../observe/observe.ts';
import { probeHints } from '../observe/probe.ts';
import {
  applyAgain,
  type CheckResult,
  failed,
  few,
  known,
  notKnown,
  passed,
  skipped,
  warning,
} from './check-result.ts';
import { isProofOnly } from './policies.ts';

/** The oldest minor version that the manifests support: ValidatingAdmissionPolicy became v1 in Kubernetes 1.30. */
const leastMinor = 30;

export function checkVersion(facts: Facts): CheckResult {
  const version = known(facts.version);
  if (version === undefined) return skipped('the API server does not say its version');
  const { gitVersion: text } = version;
  if (!isSince(version, leastMinor)) {
    const what = `the API server is ${text}, and cni-gate needs 1.${leastMinor} or later`;
    return failed('CNI_GATE_KUBERNETES', what, 'Upgrade the control plane first');
  }
  if (usesNominations(version)) return passed(text);
  const hint = 'Set gate.mode to audit where pods must not wait for one node while others are ready';
  return warning(`${text}: refused pods are not steered, which needs ${leastVersion}`, hint);
}

/**
 * Whether the cluster has any object of cni-gate. The binding of the policy over pods counts too: if only the binding
 * is left, it refuses every pod of the namespaces that opted in.
 */
export function checkPresence(facts: Facts): CheckResult {
  const { mutating, validating } = facts.registered;
  const { deployment, service, policies } = facts.installation;
  const seen = [deployment, service, policies.pods.binding];
  if (isProofOnly(facts)) return passed('policies only: gate, steering and repair are not installed');
  if (mutating?.length || validating?.length || seen.some(({ found }) => found !== undefined))
    return passed('the cluster has objects of cni-gate');
  if (mutating === undefined || validating === undefined || seen.some(({ unknown }) => unknown))
    return notKnown({ why: 'no object of cni-gate may be read' }, true);
  return failed(
    'CNI_GATE_NOT_INSTALLED',
    'cni-gate is not installed: its webhook configurations, Service and Deployment do not exist',
    'Install cni-gate, or check that it is the right cluster: kubectl config current-context',
  );
}

/** Whether cni-gate is certainly not installed. */
export const isGone = (facts: Facts): boolean => checkPresence(facts).result === 'failed';

export function checkConfiguration({ configuration: { source, trouble } }: Facts): CheckResult {
  if (trouble === undefined) return passed(source);
  const { code, message, right } = trouble;
  const why = 'its ConfigMap may not be read (or give it as a file: --config)';
  if (code === 'CNI_GATE_CLUSTER_FORBIDDEN') return notKnown({ why, right });
  const what = `replicas that start do not accept it: ${message}`;
  return failed(code, what, 'Correct the ConfigMap: replicas that run keep the last valid one');
}

/** What happens to new pods while no replica answers. */
function withoutAnswer({ failurePolicy, policies: { mutating, pods } }: InstallationFacts): string {
  const where = 'of namespaces that opted in';
  if (failurePolicy === 'Fail') return `every new pod ${where} is refused`;
  if (mutating.policy.found && mutating.binding.found) {
    const denies = pods.binding.found?.spec?.validationActions?.includes('Deny');
    const end = denies ? 'are refused' : 'start without a proof';
    return `new pods ${where} that need the server ${end}`;
  }
  return `new pods ${where} ${failurePolicy === undefined ? 'are refused, or ' : ''}start without a proof`;
}

/**
 * Whether all replicas of the Deployment are ready. A missing Deployment is no failure, because the server may run
 * outside the cluster, for instance with docker compose.
 */
export function checkDeployment({ installation }: Facts): CheckResult {
  const { namespace, failurePolicy } = installation;
  const object = `Deployment ${namespace}/${installedDeployment}`;
  const pods = `Look at "kubectl -n ${namespace} get pods"`;
  const found = known(installation.deployment);
  if (found === undefined)
    return skipped(`${object} does not exist; something else runs the endpoints of the Service`);
  const { readyReplicas: ready = 0, updatedReplicas: updated = 0, conditions } = found.status ?? {};
  const desired = found.spec?.replicas ?? 1;
  const count = `${ready} of ${desired} replicas are ready`;
  const stuck = conditions?.find(({ reason }) => reason === 'ProgressDeadlineExceeded');
  if (ready === 0 || ready < desired || stuck) {
    const what = stuck ? `${count}, its rollout got stuck: ${stuck.message}` : count;
    const lost = ready === 0 ? `, so ${withoutAnswer(installation)}` : '';
    return failed('CNI_GATE_DEPLOYMENT', `${object}: ${what}${lost}`, pods);
  }
  const rolling = `${object}: a rollout is not complete: ${updated} of ${desired} replicas are updated`;
  if (isRollingOut(found)) return warning(rolling, pods);
  if (desired > 1 || failurePolicy !== 'Fail') return passed(count);
  const scale = `Run "kubectl -n ${namespace} scale deployment ${installedDeployment} --replicas=2"`;
  return warning(`${object}: one replica: while it restarts, ${withoutAnswer(installation)}`, scale);
}

/** Whether the Service that our webhooks call has a ready endpoint. */
export function checkService({ installation }: Facts): CheckResult {
  const { namespace, url, elsewhere, failurePolicy } = installation;
  if (url !== undefined) return skipped(`webhooks call ${url}: only a probe shows whether a server answers`);
  const fault = (what: string, hint = applyAgain): CheckResult => {
    const text = `Service ${namespace}/${installedService}: ${what}, so ${withoutAnswer(installation)}`;
    return failed('CNI_GATE_NO_ENDPOINTS', text, hint);
  };
  if (elsewhere.length > 0) return fault(`webhooks ${elsewhere.join(', ')} call another server`);
  const service = known(installation.service, true);
  if (service === undefined) return fault('it does not exist, and webhooks call it');
  // the webhooks of the manifests name no port; the default is 443
  const port = service.spec?.ports?.find((candidate) => candidate.port === 443);
  if (port === undefined) return fault('it has no port 443');
  const slices = known(installation.slices, true) ?? [];
  const { name = '' } = port;
  const count = slices.flatMap(({ endpoints }) => endpoints).length;
  const ready = slices
    .filter(({ ports }) => ports.some((open) => open.port && (open.name ?? '') === name))
    .flatMap(({ endpoints }) => endpoints)
    // in the API, an endpoint counts as ready if its condition `ready` is not set
    .filter(({ conditions }) => conditions?.ready !== false).length;
  const open = failurePolicy === 'Ignore' ? `; while none is, ${withoutAnswer(installation)}` : '';
  if (ready > 0) return passed(`${ready} of ${count} endpoints are ready${open}`);
  return fault(
    count === 0 ? 'it has no endpoint' : `none of its ${count} endpoints is ready with port ${name}`,
    `Look at "kubectl -n ${namespace} get pods,endpointslices" and at the selector of the Service`,
  );
}

/** Whether the service account has its rights; undefined where the facts do not include these rights. */
export function checkServerRights({ serverRights, installation }: Facts): CheckResult | undefined {
  if (serverRights === undefined) return undefined;
  const { asked, missing } = known(serverRights) ?? {};
  if (missing === undefined) return skipped('there is no Deployment that names its service account');
  const { found: deployment } = installation.deployment;
  const account = `service account ${installation.namespace}/${deployment && accountIn(deployment)}`;
  if (missing.length === 0) return passed(`${account} has all ${asked}`);
  const hint = `${applyAgain}, and look at what changes its ClusterRole, Roles and bindings`;
  return failed('CNI_GATE_RIGHTS', `${account} may not ${few(missing, 3)}`, hint);
}

/** How long, in milliseconds, an expired Lease still counts as held, because a busy holder renews late. */
const margin = 15_000;

/** Whether a replica leads. Only the leader nominates nodes, recreates pods and writes events. */
export function checkLeader({ installation: { namespace, lease } }: Facts, now: number): CheckResult {
  const { holder = '', renewed = 0, duration = 0 } = known(lease) ?? {};
  if (holder !== '' && now - renewed <= duration + margin) return passed(`held by ${holder}`);
  const since = `${holder} holds it and has not renewed it since ${timeText(renewed)}`;
  const what = holder === '' ? 'no replica holds it' : since;
  return failed(
    'CNI_GATE_NO_LEADER',
    `Lease ${namespace}/${leaderLease}: ${what}, so refused pods are not steered and failed pods are not recreated`,
    `Look at "kubectl -n ${namespace} logs deployment/cni-gate"`,
  );
}

/**
 * Whether a pod created as a dry run gets our init container; undefined if cni-gate is not installed. Only
 * this probe shows that pods are admitted. If it could not be made, the verdict is not known; with `--no-probe`, the
 * verdict does not depend on it.
 */
export function checkProbe(facts: Facts): CheckResult | undefined {
  const { probe, namespaces } = facts;
  if (isGone(facts)) return undefined;
  if (probe === undefined) return notKnown({ why: 'no pod was tried, because of --no-probe' });
  const { namespace, outcome, what, reason } = probe;
  const hint = reason ? probeHints[reason] : '';
  const seen = `in namespace ${namespace}, ${what}`;
  if (outcome === 'injected') return passed(seen);
  if (outcome === 'no-profile-applies') return skipped(seen);
  if (outcome === 'failed')
    return failed('CNI_GATE_PROBE', `a new pod in namespace ${namespace}: ${what}`, hint);
  if (reason === 'no-namespace' && !namespaces.unknown) return skipped(`no pod was tried: ${what}`);
  const without = reason === 'rights' ? '; or run it without the probe' : '';
  const why = `no pod could be tried: ${namespaces.unknown?.why ?? what}${without}`;
  return { ...notKnown({ why }, true), hint };
}
