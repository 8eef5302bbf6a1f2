import type { History, PodWrite } from './history.ts';

type Writes = Pick<History, 'nodes' | 'pods'>;

/** The period after a reboot in which the node has no working network yet, given by resource versions. */
export interface Window {
  /** The Node's first version with the new boot ID. */
  opened: bigint;
  /** The first version of the agent's pod that is Ready and has only new containers. */
  closed: bigint;
}

/** A pod that was bound to a node. */
export interface Bound {
  name: string;
  made: bigint;
  bound: bigint;
}

/** The version at which the window of a boot opened; undefined if it has not. */
export const openedAt = ({ nodes }: Writes, bootID: string): bigint | undefined =>
  nodes.find((node) => node.bootID === bootID)?.version;

/** The window of a boot, once it has closed. @param isAgent whether a pod is the one that sets up the node's network */
export function windowOf(
  writes: Writes,
  bootID: string,
  isAgent: (pod: PodWrite) => boolean,
): Window | undefined {
  const opened = openedAt(writes, bootID);
  if (opened === undefined) return undefined;
  const agents = writes.pods.filter(isAgent);
  const old = new Set(agents.filter(({ version }) => version < opened).flatMap((pod) => pod.containers));
  const back = agents.find(
    ({ version, ready, containers }) =>
      version > opened && ready && containers.length > 0 && !containers.some((id) => old.has(id)),
  );
  return back && { opened, closed: back.version };
}

export function boundIn({ pods }: Writes, namespace: string): Bound[] {
  const own = Map.groupBy(
    pods.filter((pod) => pod.namespace === namespace),
    ({ uid }) => uid,
  );
  return [...own.values()].flatMap((writes) => {
    const [first] = writes;
    const binding = writes.find(({ node }) => node !== undefined);
    return first && binding ? [{ name: first.name, made: first.version, bound: binding.version }] : [];
  });
}

/** Versions of pods that show a refusal while the window was open. */
export const refusalsIn = ({ pods }: Writes, { opened, closed }: Window): PodWrite[] =>
  pods.filter(({ version, refusal }) => refusal !== undefined && version > opened && version < closed);

/**
 * The pods that were bound while the window was open. Bindings that were already in progress when it opened are listed
 * separately, as `underWay`: the API server calls the gate before it writes the binding, so the gate cannot know of a
 * reboot in between. Such pods were created before the window opened, and bound before the first refusal was reported.
 *
 * @param refused the version at which the first refusal was reported
 */
export function boundWhile(
  { opened, closed }: Window,
  refused: bigint,
  bound: Bound[],
): { known: string[]; underWay: string[] } {
  const inside = bound.filter((pod) => pod.bound > opened && pod.bound < closed);
  const early = (pod: Bound): boolean => pod.made < opened && pod.bound < refused;
  return {
    known: inside.filter((pod) => !early(pod)).map(({ name }) => name),
    underWay: inside.filter(early).map(({ name }) => name),
  };
}
