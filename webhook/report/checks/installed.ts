import { installedPolicies } from '../../lib/names.ts';
import type { CheckFacts, Facts } from '../facts/collect.ts';
import { accountIn } from '../facts/deployment.ts';
import { foundIn, type Observation, unknownIn } from '../facts/observation.ts';
import { type RightFacts, rightText } from '../facts/rights.ts';
import { checkAttachments } from './attachments.ts';
import type { CheckId } from './catalogue.ts';
import { applyAgain, type Finding, failed, few, judged, notKnown, passed, skipped } from './finding.ts';
import { checkLeader } from './leader.ts';
import { checkDaemonSets, checkLabels } from './namespaces.ts';
import { checkOptOut } from './opt-out.ts';
import { checkPolicy } from './policies.ts';
import { checkProbe } from './probe.ts';
import { checkProofMode } from './proof-mode.ts';
import { checkDeployment, checkService } from './replicas.ts';
import { checkResources } from './resources.ts';
import { checkVersion } from './version.ts';
import { checkCertificate, checkGateWebhooks, checkPodWebhook } from './webhooks.ts';

/** Checks an installation. @param now milliseconds since the epoch */
export function checkInstalled(facts: CheckFacts, now: number): Partial<Record<CheckId, Finding>> {
  const presence = checkPresence(facts);
  const isGone = presence.result === 'failed';
  const attachments = checkAttachments(facts);
  const proofMode = checkProofMode(facts.configuration, facts.pods);
  return {
    'kubernetes-version': checkVersion(facts),
    installed: presence,
    ...(!isGone && {
      ...checkAdmission(facts, now),
      'server-rights': checkServerRights(facts),
      probe: checkProbe(facts),
    }),
    'namespace-labels': checkLabels(facts),
    daemonsets: checkDaemonSets(facts),
    ...(attachments && { attachments }),
    ...(proofMode && !isGone && { 'proof-mode': proofMode }),
    resources: checkResources(facts),
  };
}

/** The checks of what admission depends on: those that a status makes as well. */
export type AdmissionChecks = ReturnType<typeof checkAdmission>;

/** Checks what admission depends on. @param now milliseconds since the epoch */
export function checkAdmission(facts: Facts, now: number) {
  const { configuration, registered, installation } = facts;
  const { policies } = installation;
  const enforced = configuration.trouble ? undefined : configuration.policy.proof.mode === 'enforce';
  return {
    configuration: checkConfiguration(facts),
    'webhook-pods': checkPodWebhook(registered),
    'webhook-bindings': checkGateWebhooks(registered),
    deployment: checkDeployment(installation),
    service: checkService(installation),
    certificate: checkCertificate(installation),
    'policy-pods': checkPolicy(installedPolicies[0], policies.pods, enforced),
    'opt-out': checkOptOut(facts),
    'policy-service-account': checkPolicy(installedPolicies[1], policies.serviceAccount, true),
    leader: checkLeader(facts, now),
  };
}

const guide = 'Install cni-gate, or check that it is the right cluster: kubectl config current-context';

/**
 * Whether anything of cni-gate is there. The binding of the policy over pods counts: where it stays behind alone, it
 * refuses every pod.
 */
export function checkPresence({
  installation,
  registered,
}: Pick<Facts, 'installation' | 'registered'>): Finding {
  const { mutating, validating } = registered;
  const { deployment, service, policies } = installation;
  const seen: Observation<unknown>[] = [deployment, service, policies.pods.binding];
  if (mutating?.length || validating?.length || seen.some((one) => foundIn(one) !== undefined))
    return passed('the cluster has objects of it');
  if (mutating === undefined || validating === undefined || seen.some((one) => unknownIn(one)))
    return notKnown({ why: 'no object of cni-gate may be read' }, true);
  const what = 'cni-gate is not installed: there is no webhook configuration, Service or Deployment of it';
  return failed('CNI_GATE_NOT_INSTALLED', what, guide);
}

function checkConfiguration({ configuration: { source, trouble } }: Facts): Finding {
  if (trouble === undefined) return passed(source);
  const { code, message, right } = trouble;
  if (code === 'CNI_GATE_CLUSTER_FORBIDDEN')
    return notKnown({
      why: 'its ConfigMap may not be read (or give it as a file: --config)',
      ...(right && { right }),
    });
  const what = `replicas that start do not accept it: ${message}`;
  return failed(code, what, 'Correct the ConfigMap: replicas that run keep the last valid one');
}

function checkServerRights({ serverRights, installation }: CheckFacts): Finding {
  const deployment = foundIn(installation.deployment);
  const account = `${installation.namespace}/${deployment && accountIn(deployment)}`;
  return judged(serverRights, (asked: readonly RightFacts[] | undefined) => {
    if (asked === undefined) return skipped('there is no Deployment that names its service account');
    const missing = asked.filter(({ allowed }) => !allowed).map(({ right }) => rightText(right));
    if (missing.length === 0) return passed(`service account ${account} has all ${asked.length}`);
    return failed(
      'CNI_GATE_RIGHTS',
      `service account ${account} may not ${few(missing, 3)}`,
      `${applyAgain}, and look at what changes its ClusterRole, Roles and bindings`,
    );
  });
}
