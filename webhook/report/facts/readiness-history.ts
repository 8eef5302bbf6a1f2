import type { AgentFacts, DaemonSetFacts, NodeFacts } from '../../nodes/readiness/facts.ts';
import { Readiness } from '../../nodes/readiness/readiness.ts';

/** What one reading of a cluster shows of its networks. */
export interface NetworkReading {
  nodes: readonly NodeFacts[];
  daemonSets: readonly DaemonSetFacts[];
  agents: readonly AgentFacts[];
}

type Gone = Map<string, Parameters<Readiness['apply']>[0]>;

/** The readiness of nodes over several readings of a cluster. It remembers boots, which one reading does not show. */
export class ReadinessHistory {
  readonly #readiness = new Readiness();
  /** By what the last reading had: what to say when it is gone. */
  #last: Gone = new Map();

  /** Adds a reading; what it lacks is gone. @param now milliseconds since the epoch */
  update({ nodes, daemonSets, agents }: NetworkReading, now: number): Readiness {
    const gone: Gone = new Map();
    for (const { uid } of agents) gone.set(uid, { kind: 'agent-gone', uid });
    for (const { namespace, name } of daemonSets)
      gone.set(`${namespace}/${name}`, { kind: 'daemonset-gone', namespace, name });
    for (const { name } of nodes) gone.set(name, { kind: 'node-gone', name });
    const readiness = this.#readiness;
    for (const [key, change] of this.#last) if (!gone.has(key)) readiness.apply(change, now);
    for (const facts of nodes) readiness.apply({ kind: 'node', facts, listed: true }, now);
    for (const facts of daemonSets) readiness.apply({ kind: 'daemonset', facts }, now);
    for (const facts of agents) readiness.apply({ kind: 'agent', facts }, now);
    this.#last = gone;
    return readiness;
  }
}
