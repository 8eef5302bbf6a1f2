import { readDevices } from '../devices.ts';
import { type Failed, failed, passed } from '../finding.ts';
import { readNetworkStatus } from '../network-status.ts';
import { readNetworks } from '../networks.ts';
import type { Pod } from '../pod.ts';
import { readText } from '../read-text.ts';
import type { Reason } from '../reasons.ts';
import { type Attempt, now } from '../waiting.ts';
import { type InterfaceResult, judgeInterfaces } from './judge-interfaces.ts';

/** How long `network-status` is waited for where all else is right: the kubelet brought it in 0.15 s when tried. */
const patience = 5000;

const unconfirmed = 'network-status of this sandbox was not there, so addresses were not compared';

/**
 * Each network that the pod asks for has its interface. Multus can answer with success and no interface at all.
 *
 * An interface without an address is waited for until the end: a network may have none, which only `network-status`
 * tells. When that never comes the check passes all the same, with a note: the interface shows that Multus ran here, and
 * where the network's address manager fails, it makes none.
 */
export function attemptInterfaces(pod: Pod): Attempt {
  const networks = readNetworks(pod.networks, pod.namespace);
  const patient = now() + patience;
  return async () => {
    if (!networks)
      return { ...failed('networks-unreadable', `the annotation ${cut(pod.networks)}`), final: true };
    if (networks.length === 0) return passed('no network asked for', 'there is no interface to look at');
    const text = pod.networkStatusFile === undefined ? '' : readText(pod.networkStatusFile);
    const devices = readDevices();
    const results = judgeInterfaces(networks, readNetworkStatus(text, pod.addresses, devices), devices);
    const problem = mostTelling(results);
    if (problem) return problem;
    const seen = results.map((it) => it.seen).join('; ');
    const notes = results.flatMap(({ note }) => note ?? []);
    if (results.every(({ confirmed }) => confirmed)) return passed(seen, notes.join('; ') || undefined);
    const waiting = now() < patient || results.some(({ addressless }) => addressless);
    return { ...passed(seen, unconfirmed), ...(waiting && { preliminary: true }) };
  };
}

/** What tells most comes first. */
const telling: Reason[] = [
  'interface-missing',
  'interface-down',
  'interface-without-address',
  'address-differs',
];

/** All that is wrong, under the reason that tells most. */
export function mostTelling(results: InterfaceResult[]): Failed | undefined {
  const problems = results.flatMap(({ problem }) => problem ?? []);
  const reason = telling.find((it) => problems.some((problem) => problem.reason === it));
  return reason && failed(reason, problems.map(({ seen }) => seen).join('; '));
}

const cut = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
