import type { History, PodWrite } from './history.ts';

type Writes = Pick<History, 'nodes' | 'pods'>;

/** The versions between which a node that was booted has no network that is known to be of this boot. */
export interface Window {
  /** The Node's first write with the boot's id. */
  opened: bigint;
  /** The first write of an agent that reads Ready, with none of the containers of before. */
  closed: bigint;
}

/** A pod that was put on a node. */
export interface Bound {
  name: string;
  made: bigint;
  bound: bigint;
}

/** The version at which the window of a boot opened, where it did. */
export const openedAt = ({ nodes }: Writes, bootID: string): bigint | undefined =>
  nodes.find((node) => node.bootID === bootID)?.version;

/** The window of a boot, once it has closed. @param isAgent which pods bring the node its network */
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

/** Writes that tell of a refusal while the window was open. */
export const refusalsIn = ({ pods }: Writes, { opened, closed }: Window): PodWrite[] =>
  pods.filter(({ version, refusal }) => refusal !== undefined && version > opened && version < closed);

/**
 * Who was bound while the window was open. A binding that was in progress when it opened is separate: the API server
 * asks the gate first and writes after that, and what is written in between the gate cannot know. Under way were at
 * most pods that were made before, and were bound before the first refusal was reported.
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
