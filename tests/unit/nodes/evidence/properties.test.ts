import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { Evidence } from '../../../../webhook/nodes/evidence/evidence.ts';
import type { PodEvidence, Verdict } from '../../../../webhook/nodes/evidence/facts.ts';
import { type NodeProof, proofOn } from '../../../../webhook/nodes/evidence/node-state.ts';
import type { ContainersStart } from '../../../../webhook/nodes/readiness/state.ts';
import { podEvidence, seconds, start } from './support.ts';

const nodes = ['n1', 'n2'];
const owners = ['web', 'db', 'cache', ''];
const verdicts: Verdict[] = ['passed', 'failed', 'failed', 'failed', 'not-possible', 'crashed'];

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('bind' as const),
      node: fc.constantFrom(...nodes),
      owner: fc.constantFrom(...owners),
      sandbox: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('verdict' as const),
      pod: fc.nat(20),
      verdict: fc.constantFrom(...verdicts),
      skew: fc.integer({ min: 0, max: 100 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), pod: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sandbox' as const), pod: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('agent' as const), node: fc.constantFrom(...nodes) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('boot' as const), node: fc.constantFrom(...nodes) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), time: fc.integer({ min: 1, max: 400 }) }),
  },
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Two nodes and their pods. Every event has a later version, and a second more on the clock. */
class World {
  readonly evidence = new Evidence();
  readonly pods: PodEvidence[] = [];
  readonly #agents = new Map<string, ContainersStart>();
  /** By node: the version from which on a pod has to begin to count. */
  readonly resets = new Map<string, number>();
  readonly #waitedFrom = new Map<string, number>();
  now = start;
  #version = 1;

  /** Applies a step. @returns the pod that passed in it, and whether its proof began after the last reset */
  take(one: Step): { node: string; fresh: boolean } | undefined {
    this.now += seconds;
    this.#version += 1;
    const version = this.#version;
    if (one.kind === 'wait') this.now += one.time * seconds;
    else if (one.kind === 'agent') {
      this.#agents.set(one.node, { at: this.now });
      this.resets.set(one.node, version);
    } else if (one.kind === 'boot') {
      this.evidence.booted(one.node, String(version));
      this.resets.set(one.node, version);
    } else if (one.kind === 'bind') {
      this.#waitedFrom.set(`pod-${version}`, version);
      const { node, owner, sandbox } = one;
      this.#put({
        ...podEvidence({ uid: `pod-${version}`, node, owner, hasSandbox: sandbox }),
        at: this.now,
      });
    } else {
      const index = one.pod % Math.max(1, this.pods.length);
      const pod = this.pods[index];
      if (pod === undefined) return undefined;
      if (one.kind === 'delete') {
        this.pods.splice(index, 1);
        this.evidence.apply([{ type: 'gone', uid: pod.uid }], this.now);
      } else if (one.kind === 'sandbox') {
        if (pod.verdict !== 'waiting') this.#waitedFrom.set(pod.uid, version);
        this.#put({ ...pod, verdict: 'waiting', failedProfiles: [], hasSandbox: false, at: this.now });
      } else return this.#ends(pod, one.verdict, one.skew);
    }
    return undefined;
  }

  #ends(pod: PodEvidence, verdict: Verdict, skew: number) {
    const isNews = pod.verdict !== verdict;
    // the clock of a node may be wrong
    const at = this.now + (verdict === 'passed' ? skew * seconds : 0);
    const startedAt = at - seconds;
    this.#put({
      ...pod,
      verdict,
      at,
      startedAt,
      hasSandbox: true,
      failedProfiles: verdict === 'failed' ? pod.profiles : [],
    });
    if (verdict !== 'passed' || !isNews || pod.verdict !== 'waiting') return undefined;
    const waited = this.#waitedFrom.get(pod.uid) ?? 0;
    return { node: pod.node, fresh: waited > (this.resets.get(pod.node) ?? 0) };
  }

  #put(pod: PodEvidence): void {
    const next = { ...pod, version: String(this.#version) };
    const index = this.pods.findIndex(({ uid }) => uid === pod.uid);
    if (index < 0) this.pods.push(next);
    else this.pods[index] = next;
    this.evidence.apply([{ type: 'put', pod: next, listed: false }], this.now);
  }

  proof(
    node: string,
    more: { now?: number; mode?: 'ready' | 'proof'; evidence?: Evidence; owner?: string } = {},
  ): NodeProof {
    const { now = this.now, mode = 'proof', evidence = this.evidence, owner = 'new' } = more;
    const agent = this.#agents.get(node);
    return proofOn(evidence, {
      profile: 'mesh',
      node,
      mode,
      started: agent === undefined ? [] : [agent],
      pod: { key: 'asking', owner },
      now,
    });
  }
}

const histories = fc.array(step, { minLength: 1, maxLength: 60 });
const runs = { numRuns: 300 };

suite('whatever happens to the pods of two nodes', () => {
  test('a success closes failing at once, and proves the node if it began after the last reset', () => {
    const property = fc.property(histories, (history) => {
      const world = new World();
      for (const one of history) {
        const passed = world.take(one);
        if (passed === undefined) continue;
        const { state } = world.proof(passed.node);
        assert.notEqual(state, 'failing');
        if (passed.fresh) assert.equal(state, 'proved');
      }
    });
    fc.assert(property, runs);
  });

  test('somebody is let through in the end: no pod waits for another one for ever', () => {
    const property = fc.property(histories, fc.constantFrom('new', 'web'), (history, owner) => {
      const world = new World();
      for (const one of history) world.take(one);
      const later = world.now + 601 * seconds;
      for (const node of nodes) assert.equal(world.proof(node, { now: later, owner }).mayTry, true);
    });
    fc.assert(property, runs);
  });

  test('no node fails by the pods of one owner', () => {
    const property = fc.property(histories, fc.nat(600), (history, wait) => {
      const world = new World();
      for (const one of history) world.take(one.kind === 'bind' ? { ...one, owner: 'web' } : one);
      for (const node of nodes) {
        assert.notEqual(world.proof(node, { now: world.now + wait * seconds }).state, 'failing');
      }
    });
    fc.assert(property, runs);
  });

  test('a process that starts judges by the same pods, in whatever order they are listed', () => {
    const property = fc.property(histories, fc.gen(), (history, gen) => {
      const world = new World();
      for (const one of history) world.take(one);
      const listed = (pods: readonly PodEvidence[]): Evidence => {
        const evidence = new Evidence();
        evidence.apply(
          pods.map((pod) => ({ type: 'put', pod, listed: true })),
          world.now,
        );
        return evidence;
      };
      const shuffled = gen(fc.shuffledSubarray, world.pods, { minLength: world.pods.length });
      for (const node of nodes) {
        const [one, other] = [listed(world.pods), listed(shuffled)].map(
          (evidence) => world.proof(node, { evidence, now: world.now + 100 * seconds }).state,
        );
        assert.equal(one, other);
      }
    });
    fc.assert(property, runs);
  });

  test('deleting every pod leaves nothing but what is remembered of each node', () => {
    const property = fc.property(histories, (history) => {
      const world = new World();
      for (const one of history) world.take(one);
      const all = world.pods.map(({ uid }) => ({ type: 'gone' as const, uid }));
      world.evidence.apply(all, world.now);
      assert.deepEqual([...world.evidence.pods()], []);
      for (const node of nodes) {
        const stats = world.evidence.of('mesh', node);
        assert.equal(stats?.quiet ?? true, (stats?.failures.size ?? 0) === 0);
      }
      for (const owner of owners) assert.deepEqual([...world.evidence.ownedBy(owner)], []);
    });
    fc.assert(property, runs);
  });
});
