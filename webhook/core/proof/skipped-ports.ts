import { formatTarget, parseTarget } from '../../../validator/shared/targets.ts';
import { CniGateError } from '../../lib/errors.ts';
import { getOwn } from '../../lib/maps.ts';
import type { RedirectSettings } from '../profiles/types.ts';
import type { Place } from './ids.ts';

const mostPorts = 65_535;

/**
 * The targets of a redirect in one pod. A target whose port an annotation skips gets the highest unskipped port.
 * @throws CniGateError CNI_GATE_PORTS_SKIPPED if the annotation skips every port
 */
export function targetsIn({ connect, listen, skippedPorts }: RedirectSettings, place: Place): string[] {
  if (skippedPorts === undefined) return connect;
  const text = textAt(place, skippedPorts);
  if (!text) return connect;
  const skipped = portsOf(text);
  const isFree = (port: number): boolean => skipped[port] === 0 && port !== listen;
  let free = mostPorts;
  while (free > 0 && !isFree(free)) free -= 1;
  return connect.map((entry) => {
    const target = parseTarget(entry);
    if (target === undefined || skipped[target.port] === 0) return entry;
    if (free > 0) return formatTarget({ ...target, port: free });
    throw new CniGateError(
      'CNI_GATE_PORTS_SKIPPED',
      `annotation ${skippedPorts} leaves out every port ("${text.slice(0, 60)}"), so no connection of the pod passes the ` +
        "rule that the proof checks: name only the ports that need it, or do not inject the mesh's proxy",
    );
  });
}

/** An annotation of the pod, or else of its namespace. */
export const textAt = ({ pod, namespace }: Place, key: string): string | undefined =>
  getOwn(pod.metadata.annotations, key) || getOwn(namespace.annotations, key);

/** Marks the ports of a list such as `25,1024-65535`. Reads the list as linkerd2-proxy-init does (`ParsePortRange`). */
export function portsOf(text: string): Uint8Array {
  const marked = new Uint8Array(mostPorts + 1);
  for (const part of text.split(',')) {
    const [, from = '', to = from] = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(part) ?? [];
    if (from !== '') marked.fill(1, Number(from), Math.min(Number(to), mostPorts) + 1);
  }
  return marked;
}

/** Removes the ports that begin with a zero from a list, because iptables reads such ports as octal numbers. */
export const withoutOctals = (text: string): string => text.replaceAll(/\b0\d+/g, '');
