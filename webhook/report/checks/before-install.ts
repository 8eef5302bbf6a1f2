import type { PreFacts } from '../facts/model.ts';
import { rightText } from '../facts/needed-rights.ts';
import { type Network, networksOf, type Proposal, type Proposals, proposalsFor } from '../facts/networks.ts';
import { foundIn, unknownIn } from '../facts/observation.ts';
import type { CheckId } from './catalogue.ts';
import { type Finding, failed, few, judged, passed, warning } from './finding.ts';
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

/** What a check before an installation finds. */
export interface PreFindings {
  findings: Partial<Record<CheckId, Finding>>;
  networks: Network[];
  proposals: Proposal[];
}

/**
 * Checks a cluster before cni-gate is installed.
 *
 * @param ownNamespace of cni-gate
 * @param now milliseconds since the epoch
 */
export function checkPre(facts: PreFacts, ownNamespace: string, now: number): PreFindings {
  const { policy, daemonSets, webhooks, namespaces } = facts;
  const networks = networksOf({
    policy,
    daemonSets: foundIn(daemonSets) ?? [],
    webhooks: foundIn(webhooks),
  });
  const proposed = proposalsFor(policy, networks, foundIn(namespaces) ?? [], ownNamespace);
  return {
    findings: {
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
      networks: judged(daemonSets, () =>
        checkNetworks(networks, proposed, unknownIn(namespaces)?.why ?? facts.podsUnread),
      ),
    },
    networks,
    proposals: proposed.proposals,
  };
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

/** @param unread why no profile is proposed; undefined where the namespaces and their pods are known */
function checkNetworks(
  networks: readonly Network[],
  proposed: Proposals,
  unread: string | undefined,
): Finding {
  const complete = networks.filter((network) => network.complete).map(({ profile }) => profile);
  const others = networks.filter((network) => !network.complete).map(lackOf);
  const what = [
    complete.length > 0
      ? `profiles that fit: ${few(complete, 10)}`
      : 'no built-in or configured profile fits',
    ...others,
    ...(unread === undefined ? notProposed(proposed) : [`no profile is proposed, as ${unread}`]),
  ].join('; ');
  if (complete.length > 0) return passed(what);
  return warning(
    what,
    'Write a profile that names the DaemonSets of your network, and give it with --config',
  );
}

/** Namespaces without a proposal, and why. */
function notProposed({ unused, defaultLeftOut }: Proposals): string[] {
  return [
    ...(unused.length > 0
      ? [`no profile is proposed where no pod would be checked: ${namespacesText(unused)}`]
      : []),
    ...(defaultLeftOut ? ['namespace default gets no proposal beside others'] : []),
  ];
}

const namespacesText = (names: readonly string[]): string =>
  `namespace${names.length === 1 ? '' : 's'} ${few(names)}`;

/** What of a network is not as its profile says. */
function lackOf({ profile, missing, elsewhere }: Network): string {
  if (elsewhere.length > 0) return `${profile} names ${few(missing)}, and the cluster has ${few(elsewhere)}`;
  if (missing.length > 0) return `${profile} lacks ${few(missing)}`;
  return `${profile} lacks the webhook of its injector`;
}
