import type { History, PodWrite } from './history.ts';

type Writes = Pick<History, 'nodes' | 'pods'>;

/** The versions between which the network of a node that was booted is not known to be there. */
export interface Window {
  /** The Node's first write with the boot's id. */
  opened: bigint;
  /** The first write of an agent that reads Ready, with none of the containers of before. */
  closed: bigint;
}

/**
 * The window of one boot, once it has closed.
 *
 * @param isAgent which pods bring the node its network
 */
export function windowOf(
  { nodes, pods }: Writes,
  bootID: string,
  isAgent: (pod: PodWrite) => boolean,
): Window | undefined {
  const opened = nodes.find((node) => node.bootID === bootID)?.version;
  if (opened === undefined) return undefined;
  const agents = pods.filter(isAgent);
  const old = new Set(agents.filter(({ version }) => version < opened).flatMap(({ containers }) => containers));
  const back = agents.find(
    ({ version, ready, containers }) =>
      version > opened && ready && containers.length > 0 && !containers.some((id) => old.has(id)),
  );
  return back && { opened, closed: back.version };
}

/** The first write of each pod that has a node: its binding. */
export function bindings({ pods }: Writes, namespace: string): PodWrite[] {
  const first = new Map<string, PodWrite>();
  for (const pod of pods) {
    if (pod.namespace === namespace && pod.node !== undefined && !first.has(pod.uid)) first.set(pod.uid, pod);
  }
  return [...first.values()];
}

/** Whether something was written while the window was open. */
export const isIn = ({ opened, closed }: Window, { version }: { version: bigint }): boolean =>
  version > opened && version < closed;
