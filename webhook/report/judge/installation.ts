import { verifyChain } from '../../../certs/verify.ts';
import { isSince, leastVersion, usesNominations } from '../../leader/steering/version.ts';
import { getOwn } from '../../lib/maps.ts';
import { installedService, leaderLease, nameOf } from '../../lib/names.ts';
import { servingSecret } from '../observe/installation.ts';
import { isAbsent } from '../observe/observation.ts';
import type { Facts } from '../observe/observe.ts';
import { applyAgain, type Finding, failed, few, known, notKnown, passed, Settled, warning } from './row.ts';

/** The oldest minor version that the manifests support: ValidatingAdmissionPolicy became v1 in Kubernetes 1.30. */
const leastMinor = 30;

export function checkVersion(facts: Facts): Finding[] {
  const version = known(facts.version);
  if (version === undefined) return [notKnown('the API server does not say its version')];
  const { gitVersion: text } = version;
  const old = `the API server is ${text}, and cni-gate needs 1.${leastMinor} or later`;
  if (!isSince(version, leastMinor))
    return [failed('CNI_GATE_KUBERNETES', old, 'Upgrade the control plane first')];
  if (usesNominations(version)) return [passed(text)];
  const hint = 'Set gate.mode to audit where pods must not wait for one node while others are ready';
  return [warning(`${text}: refused pods are not steered, which needs ${leastVersion}`, hint)];
}

/**
 * Whether the installation has only the policies over pods, and no server.
 *
 * @throws Settled if this depends on the Deployment, and the caller has no permission to read it
 */
export function isProofOnly({ installation }: Facts): boolean {
  const { mutating, validating, deployment, policies } = installation;
  const ofPods = [policies.mutating.policy, policies.mutating.binding, policies.pods.binding];
  const hasPolicies = ofPods.some(({ found }) => found !== undefined);
  return hasPolicies && [mutating, validating].every(isAbsent) && known(deployment) === undefined;
}

/**
 * Whether the cluster has any object of cni-gate. The binding of the policy for pods counts too: if only the binding is
 * left, the API server refuses every pod of the namespaces that opted in.
 */
export function checkPresence(facts: Facts): Finding[] {
  const { mutating, validating, deployment, service, policies } = facts.installation;
  if (isProofOnly(facts)) return [passed('policies only: gate, steering and repair are not installed')];
  const ofPods = [policies.pods.binding, policies.mutating.binding];
  const seen = [mutating, validating, deployment, service, ...ofPods];
  if (seen.some(({ found }) => found !== undefined)) return [];
  const unknown = seen.find((one) => one.unknown !== undefined)?.unknown;
  if (unknown !== undefined) throw new Settled(notKnown(unknown));
  const names = few((facts.namespaces.found ?? []).flatMap(({ name, profile }) => (profile ? name : [])));
  const what = 'cni-gate is not installed: its webhooks, policies, Service and Deployment do not exist';
  const more = names === '' ? '' : `, so pods of namespaces that opted in are not checked: ${names}`;
  const hint = 'Install cni-gate, or check that it is the right cluster: kubectl config current-context';
  return [failed('CNI_GATE_NOT_INSTALLED', what + more, hint)];
}

export function checkConfiguration(facts: Facts): Finding[] {
  const { source, policy, invalid, missing, unknown } = facts.configuration;
  if (unknown !== undefined) return [notKnown(unknown)];
  const hint = 'Correct the ConfigMap: replicas that run keep the last valid one';
  // one line, because the text may become the headline
  const why = invalid?.message.split(/\s*\n\s*/).join('; ');
  if (invalid) return [failed(invalid.code, `replicas that start do not accept it: ${why}`, hint)];
  if (missing !== undefined && facts.installation.deployment.found) {
    const what = `there is no ${missing}: replicas that run keep the last one, and new ones may not start`;
    return [warning(what, applyAgain)];
  }
  const { proof, gate, steer, repair } = policy;
  const ofServer = `, gate ${gate.mode}, steer ${steer.mode}, repair ${repair.mode}`;
  return [passed(`proof ${proof.mode}${isProofOnly(facts) ? '' : ofServer}, by ${source}`)];
}

/** Whether the Service that our webhooks call has a ready endpoint for each replica. */
export function checkService({ installation }: Facts): Finding[] {
  const { namespace, mutating, deployment } = installation;
  const { failurePolicy } = mutating.found?.[0] ?? {};
  const lost =
    failurePolicy === 'Ignore'
      ? 'are refused if they need the server, or start without a proof'
      : 'are refused';
  const fault = (what: string, hint = applyAgain): Finding[] => {
    const text = `Service ${namespace}/${installedService}: ${what}, so new pods of namespaces that opted in ${lost}`;
    return [failed('CNI_GATE_NO_ENDPOINTS', text, hint)];
  };
  const service = known(installation.service);
  if (service === undefined) return fault('it does not exist, and webhooks call it');
  // the webhooks of the manifests name no port; the default is 443
  const port = service.spec?.ports?.find((candidate) => candidate.port === 443);
  if (port === undefined) return fault('it has no port 443');
  const slices = known(installation.slices) ?? [];
  const { name = '' } = port;
  const all = slices.flatMap(({ endpoints }) => endpoints).length;
  const ready = slices
    .filter(({ ports }) => ports.some((open) => open.port && (open.name ?? '') === name))
    .flatMap(({ endpoints }) => endpoints)
    // in the API, an endpoint counts as ready if its condition `ready` is not set
    .filter(({ conditions }) => conditions?.ready !== false).length;
  const hint = `Look at "kubectl -n ${namespace} get pods,endpointslices"`;
  if (ready === 0) return fault(`none of its ${all} endpoints is ready with port ${name}`, hint);
  // if no Deployment was read, the endpoints are counted, because something else may run them
  const { spec, status } = deployment.found ?? {};
  const [wanted, up] = spec ? [spec.replicas ?? 1, status?.readyReplicas ?? 0] : [all, ready];
  const text = `${up} of ${wanted} ${spec ? 'replicas' : 'endpoints'} are ready`;
  return [up >= wanted ? passed(text) : warning(text, hint)];
}

/**
 * Whether the API server accepts, for each webhook, the certificate in the replicas' Secret. With managed certificates,
 * the Secret has the authority: each replica signs its own certificate.
 */
export function checkCertificate({ installation, now }: Facts): Finding[] | undefined {
  const { namespace, mutating, validating, deployment, secret } = installation;
  const webhooks = [mutating, validating].flatMap((some) => known(some) ?? []);
  // the check `webhooks` reports missing webhooks
  if (webhooks.length === 0) return undefined;
  const found = known(deployment);
  const at = found && servingSecret(found);
  if (at === undefined) return [notKnown('no Deployment names the Secret of the certificate')];
  const name = nameOf({ namespace, name: at.name });
  const decoded = (base64 = ''): string => Buffer.from(base64, 'base64').toString();
  const chain = decoded(getOwn(known(secret)?.data, at.key));
  const hint = 'Read the log of cni-gate, or check what writes your certificate and caBundle';
  const fault = (what: string): Finding[] => [failed('CNI_GATE_CA_BUNDLE', `Secret ${name}: ${what}`, hint)];
  if (chain === '' && (at.isAuthority || isAbsent(secret)))
    return fault(`it does not exist, or has no key ${at.key}, which the Deployment needs`);
  // a volume may mount a key under a different file name, so the file's name may not be a key of the Secret
  if (chain === '') return [notKnown(`there is no key ${at.key} in Secret ${name}`)];
  const faults = webhooks.flatMap(({ name: webhook, clientConfig: { service, caBundle } }) => {
    if (!service) return [];
    const host = at.isAuthority ? undefined : `${service.name}.${service.namespace}.svc`;
    const why = verifyChain(chain, decoded(caBundle), host, new Date(now));
    return why === undefined ? [] : `for ${webhook}: ${why}`;
  });
  return faults.length === 0 ? [] : fault(`the API server does not accept its certificate ${few(faults, 1)}`);
}

/** How long, in milliseconds, an expired Lease still counts as held, because a busy holder renews late. */
const margin = 15_000;

/** Whether a replica leads. Only the leader nominates nodes, recreates pods and writes events. */
export function checkLeader({ installation, now }: Facts): Finding[] {
  const { holderIdentity: holder, renewTime, leaseDurationSeconds } = known(installation.lease)?.spec ?? {};
  const age = now - Date.parse(renewTime ?? '');
  if (holder && age <= (leaseDurationSeconds ?? 0) * 1000 + margin) return [passed(`${holder} leads`)];
  const why = holder ? `${holder} has not renewed it since ${renewTime}` : 'no replica holds it';
  const what = `Lease ${leaderLease}: ${why}, so refused pods are not steered and failed pods are not recreated`;
  const hint = `Look at "kubectl -n ${installation.namespace} logs deployment/cni-gate"`;
  return [failed('CNI_GATE_NO_LEADER', what, hint)];
}
