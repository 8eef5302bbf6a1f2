import { readDevices } from '../devices.ts';
import { type Failed, failed, passed } from '../finding.ts';
import { readNetworkStatus } from '../network-status.ts';
import { readNetworks } from '../networks.ts';
import type { Pod } from '../pod.ts';
import { readText } from '../proc/tables.ts';
import type { Reason } from '../reasons.ts';
import { type Attempt, now } from '../waiting.ts';
import { type InterfaceResult, judgeInterfaces } from './judge-interfaces.ts';

/**
 * How long the check waits for `network-status` if everything else is right, in milliseconds. In a test, the kubelet
 * wrote it within 0.15 s.
 */
const patience = 5000;

const unconfirmed = 'network-status of this sandbox was not there, so addresses were not compared';

/**
 * Checks that each network that the pod requests has its interface. Multus can report success without an interface.
 *
 * For an interface without an address, the check waits until its end: a network may have no addresses, and only
 * `network-status` says so. Without `network-status`, it then passes with a note: the interface shows that Multus ran
 * here, and Multus creates none if the network's IPAM fails.
 */
export function attemptInterfaces(pod: Pod): Attempt {
  const networks = readNetworks(pod.networks, pod.namespace);
  const patient = now() + patience;
  return async () => {
    if (!networks)
      return { ...failed('networks-unreadable', `the annotation ${cut(pod.networks)}`), final: true };
    if (networks.length === 0) return passed('no requested network', 'there is no interface to check');
    const text = pod.networkStatusFile === undefined ? '' : readText(pod.networkStatusFile);
    const devices = readDevices();
    const results = judgeInterfaces(networks, readNetworkStatus(text, pod.addresses, devices), devices);
    const problem = worstFailure(results);
    if (problem) return problem;
    const seen = results.map((it) => it.seen).join('; ');
    const notes = results.flatMap(({ note }) => note ?? []);
    if (results.every(({ confirmed }) => confirmed)) return passed(seen, notes.join('; ') || undefined);
    const waiting = now() < patient || results.some(({ addressless }) => addressless);
    return { ...passed(seen, unconfirmed), ...(waiting && { preliminary: true }) };
  };
}

/** The most informative reason comes first. */
const telling: Reason[] = [
  'interface-missing',
  'interface-down',
  'interface-without-address',
  'address-differs',
];

/** All problems, under the most informative reason. */
export function worstFailure(results: InterfaceResult[]): Failed | undefined {
  const problems = results.flatMap(({ problem }) => problem ?? []);
  const reason = telling.find((it) => problems.some((problem) => problem.reason === it));
  return reason && failed(reason, problems.map(({ seen }) => seen).join('; '));
}

const cut = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
