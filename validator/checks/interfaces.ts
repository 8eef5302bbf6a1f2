import { readDevices } from '../devices.ts';
import { type Failed, type Finding, failed, held } from '../finding.ts';
import { readNetworkStatus } from '../network-status.ts';
import { readNetworks } from '../networks.ts';
import type { Pod } from '../pod.ts';
import { readText } from '../read-text.ts';
import type { Reason } from '../reasons.ts';
import { now, sleep } from '../waiting.ts';
import { type Judged, judgeInterfaces } from './judge-interfaces.ts';

/** How long `network-status` is waited for where all else is right: the kubelet brought it in 0.15 s when tried. */
const patience = 5000;

/** Between two looks: the file comes within the first few, and nothing tells when. */
const pause = 50;

const unconfirmed = 'network-status of this sandbox was not there, so addresses were not compared';

/** Each network that the pod asks for has its interface. Multus can answer with success and no interface at all. */
export async function proveInterfaces(pod: Pod, end: number): Promise<Finding> {
  const networks = readNetworks(pod.networks, pod.namespace);
  if (!networks) return failed('networks-unreadable', `the annotation ${cut(pod.networks)}`);
  if (networks.length === 0) return held('no network asked for', 'there is no interface to look at');
  const patient = now() + patience;
  for (;;) {
    const over = now() + pause >= end;
    const text = pod.networkStatusFile === undefined ? '' : readText(pod.networkStatusFile);
    const devices = readDevices();
    const judged = judgeInterfaces(networks, readNetworkStatus(text, pod.addresses, devices), devices);
    const problem = mostTelling(judged);
    if (problem && over) return problem;
    if (!problem) {
      const seen = judged.map((it) => it.seen).join('; ');
      if (judged.every(({ confirmed }) => confirmed)) return held(seen);
      if (over || now() >= patient) return held(seen, unconfirmed);
    }
    await sleep(pause);
  }
}

/** What tells most comes first. */
const telling: Reason[] = [
  'interface-missing',
  'interface-down',
  'interface-without-address',
  'address-differs',
];

/** All that is wrong, under the reason that tells most. */
export function mostTelling(judged: Judged[]): Failed | undefined {
  const problems = judged.flatMap(({ problem }) => problem ?? []);
  const reason = telling.find((it) => problems.some((problem) => problem.reason === it));
  return reason && failed(reason, problems.map(({ seen }) => seen).join('; '));
}

const cut = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
