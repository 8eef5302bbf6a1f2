import type { Controller, PodEvidence } from '../../../webhook/evidence/facts.ts';
import { type NodeProof, proofOn } from '../../../webhook/evidence/node-state.ts';
import type { Ended } from '../../../webhook/repair/attempt.ts';
import { RepairHistory } from '../../../webhook/repair/history.ts';
import { planRepair } from '../../../webhook/repair/plan.ts';
import type { Budgets, NodeForProfile, Recreation } from '../../../webhook/repair/types.ts';
import { budgets, ownerOf, Pods, start } from './support.ts';

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
  history = new RepairHistory();
  readonly pods = new Pods();
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
    this.pods.evidence.booted(name, this.#version());
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
    return this.pods.all().filter((pod) => pod.node === node && pod.verdict === 'passed').length;
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

  /** Another replica leads, which knows nothing of what the one before remembered. */
  newLeader(): void {
    this.history = new RepairHistory();
  }

  #create(controller: Controller, namespace: string, name?: string, node?: string): void {
    const number = this.#next++;
    const uid = `uid-${number}`;
    const facts: PodEvidence = {
      uid,
      namespace,
      name: name ?? `${controller.name}-${number}`,
      version: `${number}`,
      node: '',
      profiles: ['mesh'],
      failedProfiles: [],
      controller,
      owner: ownerOf({ namespace, uid, controller }),
      createdAt: this.#wall(),
      leaving: false,
      ended: false,
      verdict: 'waiting',
      at: undefined,
      startedAt: undefined,
      waitingFor: '',
      hasSandbox: false,
      addresses: [],
    };
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
    this.pods.put(this.#wall(), pod.facts);
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
    return proofOn(this.pods.evidence, {
      profile: 'mesh',
      node: name,
      mode: this.#options.evidence,
      started: [{ at: start + startedAt, version: '0' }],
      pod: pod && { key: pod.uid, owner: pod.owner },
      now: this.#wall(),
    });
  }

  #isProved(node: SimNode): boolean {
    return this.#proof(node).state === 'proved';
  }

  #allows(node: SimNode, pod: PodEvidence): boolean {
    return this.#isReady(node) && this.#proof(node, pod).lets;
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
      turn: this.#proof(node).lets,
      passedAt: this.pods.passedAt('mesh', name),
    };
  }

  #repair(): void {
    this.ended.push(...this.history.observe(this.pods, this.now));
    const { recreations } = planRepair(
      {
        failed: this.pods.failed,
        node: (name) => this.#known(name),
        elsewhere: (pod) =>
          [...this.#nodes.values()].some(
            (node) => node.name !== pod.node && this.#isReady(node) && this.#isProved(node),
          ),
        budgets: { ...budgets, ...this.#options.budgets },
      },
      this.history,
      this.now,
    );
    for (const recreation of recreations) this.#recreate(recreation);
  }

  #recreate(recreation: Recreation): void {
    const { uid, node, namespace, owner } = recreation.pod;
    this.history.made(recreation, this.pods, this.now);
    this.deleted.push({ at: this.now, uid, owner, node, namespace });
    this.#replace(recreation.pod);
  }

  #replace({ uid, namespace, name, controller }: PodEvidence): void {
    if (controller === undefined) throw new Error(`${name} has no controller`);
    this.#pods.delete(uid);
    this.pods.remove(uid);
    this.#create(controller, namespace, controller.kind === 'StatefulSet' ? name : undefined);
  }
}
