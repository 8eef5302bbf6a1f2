import type { Policy } from '../../core/profiles/policy.ts';
import type { DaemonSetRef } from '../../core/profiles/types.ts';
import { CniGateError } from '../../lib/errors.ts';
import { nameOf, profileLabel } from '../../lib/names.ts';
import type { PreFacts } from '../facts/collect.ts';
import { combinedOf } from '../facts/configuration.ts';
import { foundIn } from '../facts/observation.ts';
import { rightText } from '../facts/rights.ts';
import type { CheckId } from './catalogue.ts';
import { type Finding, failed, few, judged, passed, warning } from './finding.ts';
import { checkPresence } from './installed.ts';
import { checkVersion } from './version.ts';

/** Checks a cluster before cni-gate is installed. */
export function checkPre(facts: PreFacts) {
  const { policy } = facts.configuration;
  const networks = networksOf(policy, foundIn(facts.daemonSets) ?? []);
  const findings: Partial<Record<CheckId, Finding>> = {
    'kubernetes-version': checkVersion(facts),
    'install-rights': checkRights(facts),
    'not-installed-yet': checkAbsence(facts),
    networks: checkNetworks(facts, networks),
  };
  const complete = networks.flatMap((network) => (network.complete ? network.profile : []));
  return { findings, networks, proposals: complete.length === 0 ? [] : [proposal(policy, complete)] };
}

function checkRights({ rights }: PreFacts): Finding {
  const missing = rights.filter(({ allowed }) => !allowed).map(({ right }) => rightText(right));
  if (missing.length === 0) return passed('you may create everything that the manifests contain');
  const hint = 'Ask a user with the ClusterRole cluster-admin to install, or to give you these rights';
  return failed('CNI_GATE_RIGHTS', `you may not ${few(missing, 3)}`, hint);
}

function checkAbsence(facts: PreFacts): Finding {
  const presence = checkPresence(facts);
  if (presence.result === 'failed') return passed('nothing of it is there');
  if (presence.result !== 'passed') return { ...presence, essential: false };
  return warning('cni-gate is installed already', 'Run "cni-gate check" without --pre');
}

/** What a cluster has of the network that a profile describes. */
export type Network = ReturnType<typeof networksOf>[number];

/** The networks of a cluster of which some DaemonSet is there. A profile without DaemonSets describes none. */
function networksOf({ profiles }: Policy, daemonSets: readonly DaemonSetRef[]) {
  const existing = new Set(daemonSets.map(nameOf));
  return [...profiles.values()].flatMap(({ name: profile, daemonSets: wanted }) => {
    const missing = wanted.map(nameOf).filter((key) => !existing.has(key));
    return missing.length === wanted.length ? [] : [{ profile, complete: missing.length === 0, missing }];
  });
}

/** Whether the cluster has a network that a profile describes. */
const checkNetworks = ({ daemonSets }: PreFacts, networks: readonly Network[]): Finding =>
  judged(daemonSets, () => {
    const complete = networks.filter((network) => network.complete).map(({ profile }) => profile);
    const what = [
      complete.length > 0
        ? `profiles that fit: ${few(complete, 10)}`
        : 'no built-in or configured profile fits',
      ...networks
        .filter((network) => !network.complete)
        .map(({ profile, missing }) => `${profile} lacks ${few(missing)}`),
    ].join('; ');
    if (complete.length > 0) return passed(what);
    const hint = 'Write a profile that names the DaemonSets of your network, and give it with --config';
    return warning(what, hint);
  });

/** The label for namespaces of a cluster, and the command that sets it. */
export type Proposal = ReturnType<typeof proposal>;

/**
 * The profiles of complete networks as one label, which fits every namespace: each profile says to which pods it
 * applies. Networks of all pods come first, then those on top of them, such as meshes.
 */
function proposal(policy: Policy, names: readonly string[]) {
  const isForAll = (name: string): boolean => {
    const when = policy.profiles.get(name)?.when ?? {};
    return ![when].flat().some((one) => one.container ?? one.namespaceLabels);
  };
  const sorted = names.toSorted();
  const profile = [...sorted.filter(isForAll), ...sorted.filter((name) => !isForAll(name))].join('.');
  const combined = combinedOf(policy, profile);
  const problem = combined instanceof CniGateError ? combined.message : '';
  const command = problem === '' ? `kubectl label namespace NAMESPACE ${profileLabel}=${profile}` : '';
  return { profile, command, problem };
}
