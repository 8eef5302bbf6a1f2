import type { PreFacts } from '../facts/before-install.ts';
import { rightText } from '../facts/needed-rights.ts';
import { foundIn } from '../facts/observation.ts';
import type { CheckId } from './catalogue.ts';
import { type Finding, failed, few, passed, warning } from './finding.ts';
import { checkPresence } from './installed.ts';
import {
  checkApis,
  checkClocks,
  checkNodes,
  checkOwnClock,
  checkPlugins,
  checkPriorityClass,
  checkReach,
  checkVersion,
} from './kubernetes.ts';
import { checkNetworks, networksOf, proposalsFor } from './networks.ts';

/** Checks a cluster before cni-gate is installed. @param now milliseconds since the epoch */
export function checkPre(facts: PreFacts, now: number) {
  const networks = networksOf(facts.policy, foundIn(facts.daemonSets) ?? []);
  const findings: Partial<Record<CheckId, Finding>> = {
    'kubernetes-version': checkVersion(facts),
    'kubernetes-apis': checkApis(facts),
    'admission-plugins': checkPlugins(facts),
    'api-server-reach': checkReach(facts),
    'cluster-clocks': checkClocks(facts, undefined, now),
    'own-clock': checkOwnClock(facts),
    nodes: checkNodes(facts),
    'priority-class': checkPriorityClass(facts.priorityClass),
    'install-rights': checkRights(facts),
    'not-installed-yet': checkAbsence(facts),
    networks: checkNetworks(facts, networks),
  };
  return { findings, networks, proposals: proposalsFor(facts, networks) };
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
