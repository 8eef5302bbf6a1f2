import type { AgentFacts, DaemonSetFacts, NodeFacts } from '../../nodes/readiness/facts.ts';
import { Readiness } from '../../nodes/readiness/readiness.ts';

/** What one reading of a cluster shows of its networks. */
export interface NetworkReading {
  nodes: readonly NodeFacts[];
  daemonSets: readonly DaemonSetFacts[];
  agents: readonly AgentFacts[];
}

/** The readiness of nodes over several readings of a cluster. It remembers boots, which one reading does not show. */
export class ReadinessHistory {
  readonly #readiness = new Readiness();
  #last: NetworkReading = { nodes: [], daemonSets: [], agents: [] };

  /** Adds a reading; what it lacks is gone. @param now milliseconds since the epoch */
  update(reading: NetworkReading, now: number): Readiness {
    const { nodes, daemonSets, agents } = reading;
    const readiness = this.#readiness;
    for (const { uid } of without(this.#last.agents, agents, ({ uid }) => uid))
      readiness.apply({ kind: 'agent-gone', uid }, now);
    for (const { namespace, name } of without(
      this.#last.daemonSets,
      daemonSets,
      (one) => `${one.namespace}/${one.name}`,
    ))
      readiness.apply({ kind: 'daemonset-gone', namespace, name }, now);
    for (const { name } of without(this.#last.nodes, nodes, ({ name }) => name))
      readiness.apply({ kind: 'node-gone', name }, now);
    for (const facts of nodes) readiness.apply({ kind: 'node', facts, listed: true }, now);
    for (const facts of daemonSets) readiness.apply({ kind: 'daemonset', facts }, now);
    for (const facts of agents) readiness.apply({ kind: 'agent', facts }, now);
    this.#last = reading;
    return readiness;
  }
}

/** The objects before that are not there now, by their keys. */
function without<T>(before: readonly T[], now: readonly T[], keyOf: (one: T) => string): T[] {
  const keys = new Set(now.map(keyOf));
  return before.filter((one) => !keys.has(keyOf(one)));
}
