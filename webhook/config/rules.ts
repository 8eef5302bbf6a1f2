import { isIP } from 'node:net';
import { foreign, ownPrefix } from '../names.ts';
import { settingsOf, wordOf } from './checks.ts';
import type { Fault } from './explain.ts';
import { conflicts } from './joins.ts';
import { parseNetworks } from './networks.ts';
import type { Profile } from './types.ts';

/**
 * Annotations that a network writes for itself. Setting them from outside makes a pod look ready that is not,
 * or fools the component that owns the key.
 */
const ownedByOthers: Record<string, string> = {
  [foreign.networkStatus]: 'Multus writes it when it made the sandbox',
  'k8s.v1.cni.cncf.io/networks-status': 'Multus writes it when it made the sandbox',
  'vpc.amazonaws.com/pod-eni': "it is written by AWS's VPC resource controller",
  'ambient.istio.io/redirection': "it is written by Istio's node agent",
  'sidecar.istio.io/status': "it is written by Istio's injector",
  [foreign.mirrorPod]: 'the kubelet writes it on static pods',
};

/** What is wrong with a profile that no schema can say. `path` is where the profile stands in its document. */
export function profileFaults(profile: Profile, path: (string | number)[]): Fault[] {
  const faults: Fault[] = [];
  for (const [key, value] of Object.entries(profile.annotations)) {
    const owner = Object.hasOwn(ownedByOthers, key)
      ? ownedByOthers[key]
      : key.startsWith(ownPrefix)
        ? 'cni-gate writes it itself'
        : undefined;
    const at = [...path, 'annotations', key];
    if (owner !== undefined) faults.push({ path: at, text: `must not be set: ${owner}`, onKey: true });
    if (key === foreign.networks && parseNetworks(value) === undefined) {
      faults.push({ path: at, text: 'is neither a comma-separated list nor a JSON list of networks' });
    }
  }
  for (const [index, check] of profile.proof.checks.entries()) {
    const at = [...path, 'proof', 'checks', index, wordOf(check), 'connect'];
    const targets = [...settingsOf([check], 'redirect'), ...settingsOf([check], 'captured')].flatMap(
      (settings) => settings.connect,
    );
    for (const [place, target] of targets.entries()) {
      if (!isTarget(target))
        faults.push({ path: [...at, place], text: `"${target}" is no address and port` });
    }
  }
  for (const text of conflicts([profile])) faults.push({ path, text });
  return faults;
}

/** Whether a text that looks like `address:port` holds a real address and a real port. */
function isTarget(target: string): boolean {
  const colon = target.lastIndexOf(':');
  const host = target.slice(0, colon);
  const port = Number(target.slice(colon + 1));
  const family = host.startsWith('[') ? isIP(host.slice(1, -1)) === 6 : isIP(host) === 4;
  return family && port >= 1 && port <= 65_535;
}
