import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { PodEvidence, Verdict } from '../../../webhook/evidence/facts.ts';
import { verdicts } from '../../../webhook/evidence/facts.ts';
import { proofOn } from '../../../webhook/evidence/node-state.ts';
import { RepairHistory } from '../../../webhook/repair/history.ts';
import { planRepair } from '../../../webhook/repair/plan.ts';
import type { NodeForProfile, Recreation } from '../../../webhook/repair/types.ts';
import { controllerOf, budgets as defaults, ownerOf, Pods, start } from './support.ts';

const [second, minute] = [1000, 60_000];
const nodes = ['n0', 'n1', 'n2'];
const kinds = ['ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job', 'Node', 'Gadget', ''];
const profiles = [['mesh'], ['cni'], ['cni', 'mesh']];
const limits = { perNodePerMinute: 4, perOwnerPerMinute: 3, perMinute: 6 };

type State = NodeForProfile['state'];
type Answer = 'made' | 'conflict' | 'failed';

/** One step of a random history. Pods are named by a number, modulo how many there are. */
type Event =
  | { type: 'create'; owner: number; node: number; profiles: number; namespace: number }
  | { type: 'verdict'; pod: number; verdict: Verdict }
  | { type: 'verdicts'; verdict: Verdict }
  | { type: 'restart'; pod: number }
  | { type: 'touch'; pod: number }
  | { type: 'end'; pod: number; how: 'leaving' | 'ended' | 'gone' }
  | { type: 'state'; node: number; state: State; turn: boolean }
  | { type: 'boot'; node: number }
  | { type: 'clock'; by: number }
  | { type: 'wait'; by: number }
  | { type: 'leader' }
  | { type: 'round'; answers: Answer[]; elsewhere: boolean };

const index = fc.nat(30);
const round = fc.record({
  type: fc.constant('round' as const),
  answers: fc.array(fc.constantFrom<Answer>('made', 'made', 'made', 'conflict', 'failed'), {
    minLength: 1,
    maxLength: 4,
  }),
  elsewhere: fc.boolean(),
});
const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        type: fc.constant('create' as const),
        owner: fc.nat(kinds.length + 2),
        node: fc.nat(2),
        profiles: fc.nat(2),
        namespace: fc.nat(1),
      }),
    },
    {
      weight: 14,
      arbitrary: fc.record({
        type: fc.constant('verdict' as const),
        pod: index,
        verdict: fc.constantFrom<Verdict>(...Array<Verdict>(12).fill('failed'), ...verdicts),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        type: fc.constant('verdicts' as const),
        verdict: fc.constantFrom<Verdict>('failed', 'failed', 'passed'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('restart' as const), pod: index }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('touch' as const), pod: index }) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('end' as const),
        pod: index,
        how: fc.constantFrom('leaving' as const, 'ended' as const, 'gone' as const),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('state' as const),
        node: fc.nat(2),
        state: fc.constantFrom<State>('open', 'open', 'open', 'open', 'unproved', 'closed', 'unreachable'),
        turn: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('boot' as const), node: fc.nat(2) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('clock' as const),
        by: fc.integer({ min: -3_600_000, max: 3_600_000 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('wait' as const),
        by: fc.oneof(fc.nat(20_000), fc.nat(900_000)),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('leader' as const) }) },
    { weight: 8, arbitrary: round },
  ),
  { minLength: 20, maxLength: 150, size: 'max' },
);

interface Made {
  at: number;
  recreation: Recreation;
  /** Whether a proof had passed on the node since the pod failed. */
  proven: boolean;
  /** Whether another node was open to the pod. Pods of a DaemonSet have none. */
  elsewhere: boolean;
}

/** A cluster in which anything happens, and what repair did in it. */
class World {
  readonly pods = new Pods();
  readonly made: Made[] = [];
  /** All UIDs that were deleted, by whichever leader. */
  readonly deleted = new Set<string>();
  readonly #nodes = new Map(nodes.map((name) => [name, { state: 'open' as State, turn: true }]));
  /** When pods of a controller passed. */
  readonly #successes: { owner: string; at: number }[] = [];
  /** UIDs of pods that are deleted, and still reported. */
  readonly #late: string[] = [];
  #history = new RepairHistory();
  #now = 5 * second;
  /** Whether a clock was ever set back. Then a proof may seem to be older than the node's boot. */
  #isSetBack = false;
  #wall = start;
  #next = 0;

  apply(event: Event): void {
    this.#now += second;
    this.#wall += second;
    if (event.type === 'create') this.#create(event);
    else if (event.type === 'verdict') this.#on(event.pod, (pod) => this.#verdict(pod, event.verdict));
    else if (event.type === 'verdicts') this.prove(event.verdict);
    else if (event.type === 'restart') this.#on(event.pod, (pod) => this.#put(pod, waiting));
    else if (event.type === 'touch') this.#on(event.pod, (pod) => this.#put(pod, {}));
    else if (event.type === 'end') this.#on(event.pod, (pod) => this.#end(pod, event.how));
    else if (event.type === 'state') this.#setNode(event);
    else if (event.type === 'boot') this.#boot(this.#nodeOf(event.node));
    else if (event.type === 'clock') this.#setClock(event.by);
    else if (event.type === 'wait') this.wait(event.by);
    else if (event.type === 'leader') this.#newLeader();
    else this.round(event.answers, event.elsewhere);
  }

  wait(by: number): void {
    this.#now += by;
    this.#wall += by;
    for (const uid of this.#late.splice(0)) this.pods.remove(uid);
  }

  /** @returns how many pods were recreated */
  round(answers: readonly Answer[], elsewhere: boolean): number {
    this.#history.observe(this.pods, this.#now);
    const { recreations } = planRepair(
      {
        failed: this.pods.failed,
        node: (node, profile) => this.#known(node, profile),
        elsewhere: () => elsewhere,
        budgets: { ...defaults, ...limits },
      },
      this.#history,
      this.#now,
    );
    let made = 0;
    for (const [position, recreation] of recreations.entries()) {
      this.#holds(recreation, elsewhere);
      const { pod } = recreation;
      const answer = answers[position % answers.length];
      if (answer === 'conflict') {
        this.#history.stale(pod);
        this.#put(pod, {});
      } else if (answer === 'failed') this.#history.failed(pod, this.#now);
      else {
        made += 1;
        this.#delete(recreation, elsewhere);
      }
    }
    this.#budgetsHold();
    return made;
  }

  /** From now on all nodes work, and so all pods that come pass. */
  heal(): void {
    for (const node of this.#nodes.values()) Object.assign(node, { state: 'open' });
  }

  /** All pods without a verdict get this one. */
  prove(verdict: Verdict): void {
    for (const pod of this.pods.all()) if (pod.verdict === 'waiting') this.#verdict(pod, verdict);
  }

  /** Failed pods that a controller would recreate. */
  stuck(): PodEvidence[] {
    return [...this.pods.failed].filter(
      ({ controller, leaving, ended }) =>
        !leaving &&
        !ended &&
        ['ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job'].includes(controller?.kind ?? ''),
    );
  }

  #holds({ pod }: Recreation, elsewhere: boolean): void {
    assert.equal(this.pods.pod(pod.uid), pod, 'the pod as it is now');
    assert.equal(pod.verdict, 'failed');
    assert.ok(!pod.leaving && !pod.ended);
    assert.ok(!this.deleted.has(pod.uid), 'no pod is deleted twice');
    assert.ok(['ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job'].includes(pod.controller?.kind ?? ''));
    const states = pod.profiles.map((profile) => this.#known(pod.node, profile).state);
    assert.ok(!states.includes('unreachable'));
    assert.ok(
      !states.includes('closed') || isMovable(pod, elsewhere),
      'a pod on a node that is not ready is left alone',
    );
  }

  #delete(recreation: Recreation, elsewhere: boolean): void {
    const { pod } = recreation;
    this.#history.made(recreation, this.pods, this.#now);
    this.deleted.add(pod.uid);
    const proven = pod.failedProfiles.every(
      (profile) => (this.pods.passedAt(profile, pod.node) ?? 0) > (pod.startedAt ?? 0),
    );
    this.made.push({ at: this.#now, recreation, proven, elsewhere: isMovable(pod, elsewhere) });
    // the watch may report it later
    if (this.made.length % 2 === 0) this.pods.remove(pod.uid);
    else this.#late.push(pod.uid);
    this.#put({ ...pod, uid: this.#uid(), createdAt: this.#wall }, waiting);
  }

  #budgetsHold(): void {
    const last = this.made.filter(({ at }) => this.#now - at < minute);
    assert.ok(last.length <= limits.perMinute);
    const counts = (of: (made: Made) => string | undefined): number[] =>
      Object.values(Object.groupBy(last, (made) => of(made) ?? '')).map((all) => all?.length ?? 0);
    assert.ok(Math.max(0, ...counts(({ recreation }) => recreation.pod.node)) <= limits.perNodePerMinute);
    const ofOwner = counts(({ recreation }) => recreation.pod.owner);
    assert.ok(Math.max(0, ...ofOwner) <= limits.perOwnerPerMinute);
    const inVain = this.made.filter(
      (made) => made.elsewhere && !made.proven && this.#now - made.at < 10 * minute,
    );
    for (const [owner, all] of Map.groupBy(inVain, ({ recreation }) => recreation.pod.owner)) {
      const success = this.#successes.findLast((one) => one.owner === owner)?.at ?? Number.NEGATIVE_INFINITY;
      const since = all.filter(({ at }) => at > success + minute);
      assert.ok(since.length <= 3, `${since.length} recreations of ${owner} in vain`);
    }
  }

  #known(node: string, profile: string): NodeForProfile {
    const found = this.#nodes.get(node) ?? { state: 'unreachable', turn: false };
    return { ...found, why: '', passedAt: this.pods.passedAt(profile, node) };
  }

  #create({ owner, node, profiles: list, namespace }: Event & { type: 'create' }): void {
    const kind = kinds[owner % kinds.length] ?? '';
    const name = `${kind.toLowerCase()}${owner}`;
    const uid = this.#uid();
    const controller = kind === '' ? undefined : controllerOf(name, kind);
    this.#put(
      {
        uid,
        namespace: `shop${namespace}`,
        name: `${name}-${this.#next}`,
        version: '0',
        node: this.#nodeOf(node),
        profiles: profiles[list] ?? [],
        failedProfiles: [],
        controller,
        owner: ownerOf({ namespace: `shop${namespace}`, uid, controller }),
        createdAt: this.#wall,
        leaving: false,
        ended: false,
        verdict: 'waiting',
        at: undefined,
        startedAt: undefined,
        waitingFor: '',
        hasSandbox: true,
        addresses: [],
      },
      {},
    );
  }

  #verdict(pod: PodEvidence, verdict: Verdict): void {
    // a proof that passed ends it
    if (pod.verdict === 'passed') return;
    const failedProfiles = verdict === 'failed' ? pod.profiles : [];
    const isSame = verdict === pod.verdict;
    const at = isSame ? pod.at : verdict === 'waiting' ? undefined : this.#wall;
    const startedAt = isSame ? pod.startedAt : at === undefined ? undefined : at - second;
    this.#put(pod, { verdict, failedProfiles, at, startedAt });
    if (verdict !== 'passed') return;
    for (const profile of this.#isSetBack ? [] : pod.profiles) {
      const question = { profile, node: pod.node, mode: 'ready', started: [], now: this.#wall } as const;
      assert.equal(
        proofOn(this.pods.evidence, question).state,
        'proved',
        'no node is failing after a success',
      );
    }
    this.#successes.push({ owner: pod.owner, at: this.#now });
  }

  #end(pod: PodEvidence, how: 'leaving' | 'ended' | 'gone'): void {
    if (how === 'gone') this.pods.remove(pod.uid);
    else this.#put(pod, { [how]: true });
  }

  #setNode({ node, state, turn }: Event & { type: 'state' }): void {
    this.#nodes.set(this.#nodeOf(node), { state, turn: turn || state === 'open' });
  }

  #setClock(by: number): void {
    this.#wall += by;
    this.#isSetBack ||= by < 0;
  }

  #newLeader(): void {
    for (const uid of this.#late.splice(0)) this.pods.remove(uid);
    this.#history = new RepairHistory();
    // its budgets are empty
    this.made.length = 0;
  }

  #boot(name: string): void {
    this.#next += 1;
    this.pods.evidence.booted(name, `${this.#next}`);
    for (const pod of this.pods.all()) if (pod.node === name) this.#put(pod, waiting);
  }

  #put(pod: PodEvidence, change: Partial<PodEvidence>): void {
    this.#next += 1;
    this.pods.put(this.#wall, { ...pod, ...change, version: `${this.#next}` });
  }

  #on(number: number, change: (pod: PodEvidence) => void): void {
    const all = this.pods.all();
    const pod = all[number % Math.max(1, all.length)];
    if (pod !== undefined) change(pod);
  }

  #nodeOf(number: number): string {
    return nodes[number % nodes.length] ?? '';
  }

  #uid(): string {
    this.#next += 1;
    return `uid-${this.#next}`;
  }
}

const isMovable = ({ controller }: PodEvidence, elsewhere: boolean): boolean =>
  elsewhere && controller?.kind !== 'DaemonSet';

const waiting = { verdict: 'waiting', failedProfiles: [], at: undefined, startedAt: undefined } as const;

suite('whatever happens in the cluster', () => {
  test('only failed pods are recreated, each once, where that helps, and within all budgets; no node is failing after a success', () => {
    fc.assert(
      fc.property(events, (history) => {
        const world = new World();
        for (const event of history) world.apply(event);
      }),
      { numRuns: 500 },
    );
  });

  test('once all nodes work, every failed pod is recreated in the end', () => {
    fc.assert(
      fc.property(events, fc.boolean(), (history, elsewhere) => {
        const world = new World();
        for (const event of history) world.apply(event);
        world.heal();
        // three hours, in which others change nothing
        for (let round = 0; round < 720 && world.stuck().length > 0; round += 1) {
          world.wait(15 * second);
          world.prove('passed');
          world.round(['made'], elsewhere);
        }
        assert.deepEqual(world.stuck(), []);
      }),
      { numRuns: 200 },
    );
  });
});
