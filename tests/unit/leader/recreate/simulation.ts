import assert from 'node:assert/strict';
import { decide } from '../../../../webhook/leader/recreate/decide.ts';
import { type Ended, RepairMemory } from '../../../../webhook/leader/recreate/memory.ts';
import type { Budgets, NodeForProfile, Recreation } from '../../../../webhook/leader/recreate/types.ts';
import { Evidence } from '../../../../webhook/nodes/evidence/evidence.ts';
import type { Controller, PodEvidence } from '../../../../webhook/nodes/evidence/facts.ts';
import { type NodeProof, proofOn } from '../../../../webhook/nodes/evidence/node-state.ts';
import { budgets, failedPod, start } from './support.ts';

/** A node of the simulation. Times are milliseconds since the simulation began. */
export interface SimNode {
  name: string;
  /** When its DaemonSet's pod reads Ready; not at all by default. */
  readyAt?: number;
  /** When the container of that pod started; at first by default. */
  startedAt?: number;
  /** When its plugin works; not at all by default. */
  worksAt?: number;
}

interface SimPod {
  facts: PodEvidence;

  /** When its sandbox was made; undefined while it waits for a node. */
  sandboxAt: number | undefined;
}

/** A recreation of the simulation, with its time since the beginning. */
export interface Deleted {
  at: number;
  uid: string;
  owner: string;
  node: string;
  namespace: string;
}

export interface SimOptions {
  nodes: SimNode[];
  evidence: 'ready' | 'proof';
  budgets?: Partial<Budgets>;
}

/** How long a proof takes, in milliseconds. */
const [toPass, toFail] = [3000, 11_000];
/** How often the simulation looks at everything. */
const step = 1000;

/**
 * A cluster whose clock is simulated: controllers replace deleted pods at once, a scheduler binds pods to the emptiest
 * node that the gate allows, and proofs pass where the plugin worked when the sandbox was made. The evidence, what the
 * gate makes of it, and repair are the real code.
 */
export class Simulation {
  /** Since the simulation began. */
  now = 0;
  memory = new RepairMemory();
  readonly evidence = new Evidence();
  readonly deleted: Deleted[] = [];
  readonly ended: Ended[] = [];
  /** Whether a leader works. */
  repairs = true;
  readonly #pods = new Map<string, SimPod>();
  readonly #nodes: Map<string, SimNode>;
  readonly #options: SimOptions;
  /** When pods of a controller passed, in this order. */
  readonly #passes: { owner: string; at: number }[] = [];
  #next = 0;
  #versions = 0;

  constructor(options: SimOptions) {
    this.#options = options;
    this.#nodes = new Map(options.nodes.map((node) => [node.name, node]));
    this.evidence.subscribe((changes) => {
      for (const change of changes) {
        const ended = this.memory.observe(change, this.now);
        if (ended !== undefined) this.ended.push(ended);
      }
    });
  }

  /**
   * Creates pods of a controller; with a node, they are bound to it already. The proofs of a controller whose UID begins
   * with `never` fail everywhere.
   */
  create(controller: Controller, replicas: number, node?: string, namespace = 'shop'): void {
    for (let replica = 0; replica < replicas; replica += 1) {
      const name = controller.kind === 'StatefulSet' ? `${controller.name}-${replica}` : undefined;
      this.#create(controller, namespace, name, node);
    }
  }

  /** Changes a node: a boot, a plugin that comes. */
  node(name: string, change: Partial<SimNode>): void {
    const node = this.#nodes.get(name);
    if (node !== undefined) Object.assign(node, change);
  }

  /** All sandboxes of the node are made again. */
  reboot(name: string, change: Partial<SimNode>): void {
    this.node(name, change);
    this.evidence.booted(name, this.#version());
    for (const pod of this.#pods.values()) if (pod.facts.node === name) this.#bind(pod, name);
  }

  /** Somebody deletes all pods of the node, and their controllers replace them. */
  replaceAll(name: string): void {
    for (const pod of [...this.#pods.values()]) if (pod.facts.node === name) this.#replace(pod.facts);
  }

  /** @param duration milliseconds */
  run(duration: number): void {
    const end = this.now + duration;
    while (this.now < end) {
      this.now += step;
      this.#prove();
      this.#schedule();
      if (this.repairs) this.#repair();
    }
  }

  /** Runs until all pods run, for so long at most. @returns how long it took, in milliseconds */
  runUntilAllPass(most: number): number {
    const began = this.now;
    while (this.now < began + most && !this.allPass()) this.run(step);
    return this.now - began;
  }

  allPass(of: (pod: PodEvidence) => boolean = () => true): boolean {
    return [...this.#pods.values()].every(({ facts }) => !of(facts) || facts.verdict === 'passed');
  }

  /** How many pods passed, by node. */
  passedOn(node: string): number {
    return [...this.evidence.pods()].filter((pod) => pod.node === node && pod.verdict === 'passed').length;
  }

  /** The largest number of recreations in any time of this length. */
  most(within: number, of: (deleted: Deleted) => boolean = () => true): number {
    const times = this.deleted.filter(of).map(({ at }) => at);
    return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + within).length));
  }

  /** The largest number of recreations of one controller's pods in such a time in which none of its pods passed. */
  longestInVain(within: number): number {
    return Math.max(
      0,
      ...this.deleted.map(({ owner, at: from }) => {
        const until =
          this.#passes.find((pass) => pass.owner === owner && pass.at >= from)?.at ?? from + within;
        return this.deleted.filter(
          (other) => other.owner === owner && other.at >= from && other.at < Math.min(until, from + within),
        ).length;
      }),
    );
  }

  get #budgets(): Budgets {
    return { ...budgets, ...this.#options.budgets };
  }

  /** Another replica leads, which knows nothing of what the one before remembered. */
  newLeader(): void {
    this.memory = new RepairMemory();
  }

  #create(controller: Controller, namespace: string, name?: string, node?: string): void {
    const number = this.#next++;
    const uid = `uid-${number}`;
    const facts = failedPod({
      uid,
      namespace,
      name: name ?? `${controller.name}-${number}`,
      version: `${number}`,
      node: '',
      controller,
      createdAt: this.#wall(),
      verdict: 'waiting',
      at: undefined,
      startedAt: undefined,
      hasSandbox: false,
    });
    const pod: SimPod = { facts, sandboxAt: undefined };
    this.#pods.set(uid, pod);
    if (node !== undefined) this.#bind(pod, node);
  }

  #version(): string {
    this.#versions += 1;
    return `${this.#versions}`;
  }

  /** The time of day, by the second as Kubernetes writes it. */
  #wall(): number {
    return start + Math.floor(this.now / 1000) * 1000;
  }

  #bind(pod: SimPod, node: string): void {
    pod.sandboxAt = this.now;
    this.#change(pod, { node, verdict: 'waiting', failedProfiles: [], at: undefined, startedAt: undefined });
  }

  #change(pod: SimPod, change: Partial<PodEvidence>): void {
    pod.facts = { ...pod.facts, ...change, version: this.#version() };
    this.evidence.apply([{ type: 'put', pod: pod.facts, listed: false }], this.#wall());
  }

  #prove(): void {
    for (const pod of this.#pods.values()) {
      const { facts, sandboxAt } = pod;
      if (sandboxAt === undefined || facts.verdict !== 'waiting') continue;
      const isNever = facts.controller?.uid.startsWith('never') === true;
      const worksAt = isNever ? undefined : this.#nodes.get(facts.node)?.worksAt;
      const works = (worksAt ?? Number.POSITIVE_INFINITY) <= sandboxAt;
      const took = this.now - sandboxAt;
      const startedAt = start + Math.floor(sandboxAt / 1000) * 1000;
      if (works && took >= toPass) {
        this.#passes.push({ owner: facts.owner, at: this.now });
        this.#change(pod, { verdict: 'passed', at: this.#wall(), startedAt });
      } else if (!works && took >= toFail) {
        this.#change(pod, { verdict: 'failed', failedProfiles: ['mesh'], at: this.#wall(), startedAt });
      }
    }
  }

  #isReady({ readyAt = Number.POSITIVE_INFINITY }: SimNode): boolean {
    return readyAt <= this.now;
  }

  /** What the proofs on the node say, by the gate's own code. @param pod who asks */
  #proof({ name, startedAt = 0 }: SimNode, pod?: PodEvidence): NodeProof {
    return proofOn(this.evidence, {
      profile: 'mesh',
      node: name,
      mode: this.#options.evidence,
      started: [{ at: start + startedAt }],
      pod: pod && { key: pod.uid, owner: pod.owner },
      now: this.#wall(),
    });
  }

  #isProved(node: SimNode): boolean {
    return this.#proof(node).state === 'proved';
  }

  #allows(node: SimNode, pod: PodEvidence): boolean {
    return this.#isReady(node) && this.#proof(node, pod).mayTry;
  }

  #schedule(): void {
    for (const pod of this.#pods.values()) {
      if (pod.sandboxAt !== undefined) continue;
      const on = (node: SimNode): number =>
        [...this.#pods.values()].filter(({ facts }) => facts.node === node.name).length;
      const [best] = [...this.#nodes.values()]
        .filter((node) => this.#allows(node, pod.facts))
        .sort((one, other) => on(one) - on(other));
      if (best !== undefined) this.#bind(pod, best.name);
    }
  }

  #known(name: string): NodeForProfile {
    const node = this.#nodes.get(name) ?? { name };
    const state = !this.#isReady(node) ? 'closed' : this.#isProved(node) ? 'open' : 'unproved';
    return {
      state,
      why: state === 'open' ? '' : state,
      turn: this.#proof(node).mayTry,
      passedAt: this.evidence.of('mesh', name)?.lastPass?.at,
    };
  }

  #repair(): void {
    this.ended.push(...this.memory.forgetOld(this.now));
    for (const pod of this.evidence.pods()) {
      const decision = pod.verdict === 'failed' ? this.#decide(pod) : undefined;
      if (decision?.decision === 'recreate') this.#recreate(decision);
    }
  }

  #decide(pod: PodEvidence): ReturnType<typeof decide> {
    return decide(pod, {
      owners: [],
      node: (name) => this.#known(name),
      elsewhere: ({ node: own }) =>
        [...this.#nodes.values()].some(
          (node) => node.name !== own && this.#isReady(node) && this.#isProved(node),
        ),
      ownedBy: (owner) => this.evidence.ownedBy(owner),
      failedOn: (node) =>
        [...this.evidence.pods()].filter((pod) => pod.node === node && pod.verdict === 'failed'),
      limits: this.memory.limits(this.#budgets, this.now),
    });
  }

  #recreate(recreation: Recreation): void {
    const { uid, node, namespace, owner, verdict } = recreation.pod;
    assert.equal(verdict, 'failed');
    assert.ok(!this.deleted.some((one) => one.uid === uid), `${uid} is deleted twice`);
    this.memory.begin(recreation, this.#budgets, this.now);
    this.deleted.push({ at: this.now, uid, owner, node, namespace });
    this.#replace(recreation.pod);
  }

  #replace({ uid, namespace, name, controller }: PodEvidence): void {
    if (controller === undefined) throw new Error(`${name} has no controller`);
    this.#pods.delete(uid);
    this.evidence.apply([{ type: 'gone', uid }], this.#wall());
    this.#create(controller, namespace, controller.kind === 'StatefulSet' ? name : undefined);
  }
}
