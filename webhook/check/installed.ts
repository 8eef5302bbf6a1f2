import type { installedWebhooks } from '../lib/names.ts';
import { Readiness } from '../readiness/readiness.ts';
import { judgeDaemonSets, profilesInUse } from '../status/daemon-sets.ts';
import { foundIn, type Observation, unknownIn } from '../status/installation/facts.ts';
import { type Installation, judgeInstallation } from '../status/installation/judge.ts';
import { applyAgain, type PartResult } from '../status/installation/parts.ts';
import type { Fault } from '../status/model.ts';
import { probeAdvice } from '../status/probe.ts';
import { type Called, registrationsOf } from '../status/verbs.ts';
import type { CheckId } from './catalogue.ts';
import type { ConfigurationFacts, InstalledFacts, RightFacts } from './facts.ts';
import { counted, failed, few, judged, notKnown, passed, skipped } from './finding.ts';
import { checkApis, checkClocks, checkNodes, checkOwnClock, checkVersion } from './kubernetes.ts';
import type { Finding } from './model.ts';
import { rightText } from './rights.ts';

/** Texts that one check puts together at most. */
const mostTexts = 3;

/** Checks an installation. The order is the report's. @param now milliseconds since the epoch */
export function checkInstalled(facts: InstalledFacts, now: number): Partial<Record<CheckId, Finding>> {
  const { configuration, registered, installation, version } = facts;
  const found = foundIn(version);
  const judgement = judgeInstallation({
    installation,
    registered,
    policy: configuration.policy,
    scheduler: found && { version: found.text, goesByNominations: found.usesNominations },
    probe: facts.probe,
    now,
  });
  const parts: Partial<Record<CheckId, Finding>> =
    judgement.present === false ? {} : ofInstallation(facts, judgement);
  return {
    'kubernetes-version': checkVersion(facts),
    'kubernetes-apis': checkApis(facts),
    'cluster-clocks': checkClocks(facts, foundIn(installation.lease), now),
    'own-clock': checkOwnClock(facts),
    nodes: checkNodes(facts),
    installed: checkPresence(judgement),
    ...parts,
    ...ofNamespaces(facts),
    ...(judgement.present !== false && { probe: checkProbe(facts, parts.service?.result === 'failed') }),
  };
}

const guide = 'Install cni-gate, or check that it is the right cluster: kubectl config current-context';

function checkPresence({ present }: Installation): Finding {
  if (present === true) return passed('the cluster has objects of it');
  if (present === null) return notKnown({ why: 'no object of cni-gate may be read' }, true);
  const what = 'cni-gate is not installed: there is no webhook configuration, Service or Deployment of it';
  return failed('CNI_GATE_NOT_INSTALLED', what, guide);
}

function ofInstallation(facts: InstalledFacts, { results }: Installation): Partial<Record<CheckId, Finding>> {
  const { configuration, registered, serverRights, account } = facts;
  const part = (name: PartResult['status']['part'], object = ''): Finding =>
    worst(
      results
        .filter(({ status }) => status.part === name && status.object.includes(object))
        .map((result) => ofPart(result, configuration)),
    );
  const { prove, gate } = registrationsOf(registered);
  return {
    configuration: checkConfiguration(configuration),
    'webhook-pods': checkRegistration(prove, 'mutating'),
    'webhook-bindings': checkRegistration(gate, 'validating'),
    deployment: part('deployment'),
    service: part('service'),
    certificate: part('certificate'),
    'policy-pods': part('policy', 'pods.cni-gate.io'),
    'policy-service-account': part('policy', 'service-account.cni-gate.io'),
    'server-rights': checkServerRights(serverRights, account),
    leader: part('leader'),
  };
}

function checkConfiguration({ source, trouble }: ConfigurationFacts): Finding {
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

function checkRegistration({ inForce, why, changed }: Called, kind: keyof typeof installedWebhooks): Finding {
  if (changed !== undefined) return failed('CNI_GATE_NOT_REGISTERED', changed.what, changed.advice);
  const resource = `${kind}webhookconfigurations`;
  const right = `verb "list" on resource "${resource}" of API group "admissionregistration.k8s.io"`;
  if (inForce === null) return notKnown({ why, right }, true);
  return inForce ? passed('registered as in the manifests') : failed('CNI_GATE_NOT_REGISTERED', why, again);
}

const again = `${applyAgain}, and look at what writes the caBundle: the replicas once they run, or cert-manager`;

function ofPart(
  { status, fault, advice = '', right, blind, byMode, forbidden }: PartResult,
  { trouble }: ConfigurationFacts,
): Finding {
  const { object, inOrder, what } = status;
  if (fault !== undefined) {
    if (byMode && trouble !== undefined)
      return notKnown({ why: `${object}: ${what}; whether that is wanted, the configuration says` });
    return failed(fault.code, `${object}: ${what}`, advice);
  }
  if (inOrder === true) return passed(what);
  // somebody else's replicas, and a URL: nothing in the cluster shows more
  if (!forbidden) return skipped(`${object}: ${what}`);
  return notKnown({ why: `${object}: ${what}`, ...(right && { right }) }, blind === true);
}

const order: readonly Finding['result'][] = ['failed', 'not-known', 'warning', 'passed', 'skipped'];

/** Of several findings of one check the worst; of findings that are alike, their texts together. */
function worst(findings: readonly Finding[]): Finding {
  const [first] = findings.toSorted((one, other) => order.indexOf(one.result) - order.indexOf(other.result));
  if (first === undefined) return skipped('there is none');
  const alike = findings.filter(({ result }) => result === first.result);
  return { ...first, what: [...new Set(alike.map(({ what }) => what))].slice(0, mostTexts).join('; ') };
}

function checkServerRights(rights: Observation<readonly RightFacts[]>, account: string): Finding {
  return judged(rights, (asked) => {
    if (asked === undefined) return skipped('there is no Deployment that names its service account');
    const missing = asked.filter(({ allowed }) => !allowed).map(({ right }) => rightText(right));
    if (missing.length === 0) return passed(`service account ${account} has all ${asked.length}`);
    return failed(
      'CNI_GATE_RIGHTS',
      `service account ${account} may not ${few(missing, mostTexts)}`,
      `${applyAgain}, and look at what changes its ClusterRole, Roles and bindings`,
    );
  });
}

/** What the labels of namespaces ask for, where the configuration of the installation is known. */
function ofNamespaces({
  configuration,
  namespaces,
  daemonSets,
}: InstalledFacts): Partial<Record<CheckId, Finding>> {
  if (configuration.trouble !== undefined) {
    const dark = notKnown({ why: 'the configuration is not known' });
    return { 'namespace-labels': dark, daemonsets: dark };
  }
  const { policy } = configuration;
  const optedIn = (foundIn(namespaces) ?? [])
    .flatMap(({ name, profile }) => (profile === undefined ? [] : [{ name, profile }]))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const { profiles, faults } = profilesInUse(policy, optedIn, new Set());
  return {
    'namespace-labels': judged(
      namespaces,
      () =>
        byFaults(
          faults,
          'Label it again: kubectl label --overwrite namespace NAME cni-gate.io/profile=PROFILE',
        ) ??
        (optedIn.length === 0
          ? skipped('no namespace has opted in', 'Label one, and "check --pre" proposes profiles')
          : passed(`${counted(optedIn.length, 'namespace')} opted in`)),
      true,
    ),
    daemonsets: judged(namespaces, () =>
      judged(daemonSets, (found = []) => {
        const readiness = new Readiness();
        for (const facts of found) readiness.apply({ kind: 'daemonset', facts }, 0);
        const { missing } = judgeDaemonSets({ policy, readiness }, profiles, { now: 0, all: false });
        const advice =
          'Compare "kubectl get daemonsets -A" with the profile, and correct the profile or the label of the namespace';
        if (profiles.size === 0) return skipped('no profile is in use');
        return byFaults(missing, advice) ?? passed(`those of ${few([...profiles].toSorted())} exist`);
      }),
    ),
  };
}

/** A check that fails with the first of these faults; undefined where there are none. */
function byFaults(faults: readonly Fault[], hint: string): Finding | undefined {
  const [first] = faults;
  if (first === undefined) return undefined;
  const more = faults.length > 1 ? `; and ${faults.length - 1} more, which "cni-gate status" lists` : '';
  return failed(first.code, first.message + more, hint);
}

const refusedByOthers =
  'Not cni-gate refused the pod, but another policy, webhook or quota of the cluster: allow pods named cni-gate-probe-* there, label another namespace, or run it with --no-probe';

/**
 * Without a try nothing shows that pods are admitted, so a verdict needs one; `--no-probe` does without it.
 *
 * @param isCut whether the Service leads to no replica: the API server keeps connections that it has
 */
function checkProbe({ probe, namespaces }: InstalledFacts, isCut: boolean): Finding {
  if (probe === undefined) return notKnown({ why: 'no pod was tried, as --no-probe asks' });
  const { namespace, outcome, what, reason } = probe;
  switch (outcome) {
    case 'injected':
      return passed(
        `in namespace ${namespace}, ${what}${isCut ? ', over a connection that the API server opened before: a new one fails' : ''}`,
      );
    case 'nothing-promised':
      return skipped(`in namespace ${namespace}, ${what}`);
    case 'failed':
      return failed('CNI_GATE_PROBE', `a new pod in namespace ${namespace}: ${what}`, probeAdvice(reason));
    case 'not-made': {
      const unread = unknownIn(namespaces);
      if (reason === 'no-namespace' && unread === undefined) return skipped(`no pod was tried: ${what}`);
      const without = reason === 'rights' ? '; or run it with --no-probe' : '';
      const finding = notKnown({ why: `no pod could be tried: ${unread?.why ?? what}${without}` }, true);
      return reason === 'other' ? { ...finding, hint: refusedByOthers } : finding;
    }
  }
}
