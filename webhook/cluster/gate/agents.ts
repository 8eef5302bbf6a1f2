import type { AgentFacts } from '../../readiness/facts.ts';
import type { Change } from '../reflector/store.ts';
import { agentSource, type WatchedDaemonSet } from './sources.ts';

/** A running reflector of the pods of one DaemonSet. */
export interface AgentReflection {
  readonly synced: boolean;
  subscribe(subscriber: (changes: Change<AgentFacts>[]) => void): () => void;
  list(): Iterable<AgentFacts>;
  stop(): void;
}

/** Starts a reflector. */
export type Reflect = (source: ReturnType<typeof agentSource>) => AgentReflection;

interface Watched {
  selector: string;
  reflection: AgentReflection;
}

/** Keeps one reflector for the pods of each DaemonSet that a profile names and that is there. */
export class Agents {
  readonly #reflect: Reflect;
  readonly #changed: (changes: Change<AgentFacts>[]) => void;
  readonly #watched = new Map<string, Watched>();

  /** @param changed is told of every pod; of a DaemonSet that is not watched any more, that its pods are gone */
  constructor(reflect: Reflect, changed: (changes: Change<AgentFacts>[]) => void) {
    this.#reflect = reflect;
    this.#changed = changed;
  }

  /** Watches the pods of these DaemonSets and of no others. */
  watch(daemonSets: Iterable<WatchedDaemonSet>): void {
    const wanted = new Map<string, WatchedDaemonSet & { selector: string }>();
    for (const { facts, selector } of daemonSets) {
      if (selector !== undefined) wanted.set(`${facts.namespace}/${facts.name}`, { facts, selector });
    }
    for (const [key, { selector, reflection }] of this.#watched) {
      if (wanted.get(key)?.selector === selector) continue;
      this.#watched.delete(key);
      reflection.stop();
      this.#changed([...reflection.list()].map(gone));
    }
    for (const [key, { facts, selector }] of wanted) {
      if (this.#watched.has(key)) continue;
      const reflection = this.#reflect(agentSource(facts, selector));
      reflection.subscribe(this.#changed);
      this.#watched.set(key, { selector, reflection });
    }
  }

  /** DaemonSets whose pods have not been listed yet. */
  unsynced(): string[] {
    return [...this.#watched].filter(([, { reflection }]) => !reflection.synced).map(([key]) => key);
  }

  stop(): void {
    for (const { reflection } of this.#watched.values()) reflection.stop();
  }
}

const gone = (previous: AgentFacts): Change<AgentFacts> => ({
  type: 'deleted',
  key: `${previous.namespace}/${previous.name}`,
  uid: previous.uid,
  previous,
  missed: true,
});
