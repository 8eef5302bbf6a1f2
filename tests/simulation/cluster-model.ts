import { Registry } from 'prom-client';
import { exitCode } from '../../validator/shared/contract.ts';
import { gate } from '../../webhook/admission/gate.ts';
import { decodePlacement } from '../../webhook/admission/placement.ts';
import { respond } from '../../webhook/admission/respond.ts';
import { refusal } from '../../webhook/cluster/errors.ts';
import { clusterMetrics } from '../../webhook/cluster/metrics.ts';
import { type NodesView, watchGate } from '../../webhook/cluster/view/watch-nodes.ts';
import type { Policy } from '../../webhook/core/profiles/policy.ts';
import { runRepair, runSteering } from '../../webhook/leader/start.ts';
import { bindingsWebhook } from '../../webhook/lib/names.ts';
import { timeText } from '../../webhook/lib/time-text.ts';
import { policyOf } from '../support/configurations.ts';
import { binding } from '../unit/admission/gate/support.ts';
import { switchedLead } from '../unit/leader/scene.ts';
import { Api, ModelClient } from './api.ts';
import { type Clock, startClock } from './clock.ts';
import { daemonSet, Node, nodeObjects, Owner, ownerObject, Pod, podObject } from './objects.ts';

/** How long kube-scheduler 1.36 pauses between attempts to bind a pod, in milliseconds; the last pause repeats. */
const retries = [1100, 3000, 5000, 9000, 11_000];
/** How long proofs take, and how long the kubelet waits before it restarts a container, in milliseconds. */
const [toPass, toFail, firstPause, longestPause] = [2000, 10_000, 10_000, 300_000];

export interface Options {
  seed?: number;
  /** The number of replicas of cni-gate, of which the first is the leader. */
  replicas?: number;
  evidence?: 'ready' | 'proof';
}

/** A model of scheduler, controllers, kubelets and API server. The replicas of cni-gate run its real code. */
export class Cluster {
  readonly clock: Clock;
  readonly nodes: Node[] = [];
  readonly owners: Owner[] = [];
  readonly pods = new Set<Pod>();
  readonly replicas: { client: ModelClient; view: NodesView; lead: (now: boolean) => void }[] = [];
  /** The pods that repair deleted; {@link inVain} is the number of their replacements that failed. */
  readonly deleted: Pod[] = [];
  inVain = 0;
  /**
   * For each binding: the seconds since the scheduler first failed to bind the pod, and the number of other pods that
   * were bound to the node in the last 30 s and had no verdict yet.
   */
  readonly bound: { node: Node; waited: number; trying: number }[] = [];
  readonly #api: Api;
  readonly #policy: Policy;
  /** The pods of {@link deleted} that have no replacement yet. */
  readonly #unreplaced = new Set<Pod>();
  #made = 0;

  constructor({ seed = 1, replicas = 2, evidence = 'proof' }: Options = {}) {
    this.clock = startClock(seed);
    this.#api = new Api(this.clock, (method, path, body) => this.#write(method, path, body));
    const daemonSets = [{ namespace: 'net', name: 'agent' }];
    const profiles = [{ name: 'mesh', daemonSets, proof: { checks: [{ address: {} }] }, evidence }];
    this.#policy = policyOf({ profiles, repair: { mode: 'recreate' } });
    this.#api.put(daemonSet);
    for (let index = 0; index < replicas; index += 1) this.#addReplica(index === 0);
  }

  #addReplica(leads: boolean): void {
    const client = new ModelClient(this.#api);
    const registry = new Registry();
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const policy = () => this.#policy;
    const view = watchGate(client, policy, { metrics: clusterMetrics(registry), log });
    const { leader, lead } = switchedLead(leads);
    const events = { capacity: 200, add: () => true };
    const deps = { view, policy, leader, log, events };
    const { signal } = new AbortController();
    for (const run of [runSteering, runRepair]) void run(client, deps, registry, signal);
    this.replicas.push({ client, view, lead });
  }

  // methods for scenarios

  /** Adds a node, or changes the node of this name. */
  node(name: string, more: Partial<Node> = {}): Node {
    const known = this.nodes.find((node) => node.name === name);
    const node = Object.assign(known ?? new Node(), { name, ...more });
    if (known === undefined) this.nodes.push(node);
    for (const object of nodeObjects(node)) this.#api.put(object);
    return node;
  }

  owner(name: string, replicas: number, more: Partial<Owner> = {}): void {
    const owner = Object.assign(new Owner(), { name, replicas, ...more });
    this.owners.push(owner);
    this.#api.put(ownerObject(owner));
    this.#control(owner);
  }

  seconds = (seconds: number): Promise<void> => this.clock.run(seconds * 1000);

  /** @returns the seconds until all pods that can pass have passed; infinity if that takes more than `seconds` */
  async untilAllRun(seconds: number): Promise<number> {
    const running = (of: Owner): number =>
      [...this.pods].filter(({ owner, leaving, verdict }) => owner === of && !leaving && verdict === 'passed')
        .length;
    for (let passed = 0; passed <= seconds; passed += 1) {
      if (this.owners.every((owner) => !owner.passes || running(owner) >= owner.replicas)) return passed;
      await this.seconds(1);
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Reboots a node, which ends its sandboxes. The kubelet starts after 5 s, and the plugin works `late` s later. */
  async reboot(node: Node, late = 5): Promise<void> {
    const boot = node.boot + 1;
    Object.assign(node, { boot, isUp: false, works: false, ready: false });
    for (const pod of this.#on(node)) Object.assign(pod, { verdict: undefined, sandboxAt: undefined });
    await this.clock.sleep(5000);
    if (node.boot !== boot) return;
    this.node(node.name, { isUp: true });
    for (const pod of this.#on(node)) void this.#start(pod, node);
    await this.clock.sleep(late * 1000);
    if (node.boot === boot) this.startAgent(node, { works: true });
  }

  /** Restarts the container of the node's agent. The agent is Ready immediately. */
  startAgent = (node: Node, more: Partial<Node> = {}): Node =>
    this.node(node.name, { ready: true, agentStarted: Date.now() + node.ahead, ...more });

  /** Restarts the kubelet, which reports sidecars as not started until their startup probes have succeeded again. */
  async restartKubelet(node: Node): Promise<void> {
    const there = this.#on(node).filter(({ verdict }) => verdict === 'passed');
    for (const started of [false, true]) {
      for (const pod of there) this.#show(pod, { proof: { ...pod.proof, started } });
      await this.clock.sleep(1000);
    }
  }

  /** Deletes a pod, as a user or repair does. */
  remove(pod: Pod): void {
    this.#show(pod, { leaving: true });
    if (pod.owner.kind === 'ReplicaSet') this.#control(pod.owner);
    void this.#stop(pod);
  }

  // controllers

  /**
   * A ReplicaSet replaces a deleted pod immediately. A StatefulSet creates a pod once all lower ordinals have passed.
   */
  #control(owner: Owner): void {
    const isOrdered = owner.kind === 'StatefulSet';
    const own = [...this.pods].filter((pod) => pod.owner === owner && (isOrdered || !pod.leaving));
    for (let ordinal = 0; ordinal < owner.replicas; ordinal += 1) {
      const name = `${owner.name}-${isOrdered ? ordinal : this.#made}`;
      const known = isOrdered ? own.find((pod) => pod.name === name) : own[ordinal];
      if (known === undefined) this.#create(name, owner);
      if (isOrdered && known?.verdict !== 'passed') return;
    }
  }

  #create(name: string, owner: Owner): void {
    this.#made += 1;
    const before = [...this.#unreplaced].find((pod) => pod.owner === owner);
    const repaired = before !== undefined && this.#unreplaced.delete(before);
    const pod = Object.assign(new Pod(), { name, uid: `uid-${this.#made}`, owner, repaired });
    this.pods.add(pod);
    this.#show(pod);
    void this.#schedule(pod);
  }

  // the scheduler

  async #schedule(pod: Pod): Promise<void> {
    await this.clock.sleep(this.clock.between(20, 200) + pod.owner.volumes);
    for (let refusals = 0; !pod.gone && !pod.leaving; ) {
      const node = this.#nodeFor(pod);
      const { allowed, status } = await this.#review(pod, node);
      if (allowed) return this.#bind(pod, node);
      const refused = `admission webhook "${bindingsWebhook}" denied the request: ${status?.message}`;
      const message = `running Bind plugin "DefaultBinder": ${refused}`;
      if (pod.waits?.message !== message)
        this.#show(pod, { waits: { since: Date.now(), ...pod.waits, message } });
      await this.clock.sleep(retries[refusals] ?? 0);
      refusals = Math.min(refusals + 1, retries.length - 1);
    }
  }

  /** The nominated node, or else the node with the fewest pods, even if the gate has refused to bind the pod to it. */
  #nodeFor({ nominated }: Pod): Node {
    const pods = (node: Node): number => this.#on(node).length;
    const [emptiest] = this.nodes.toSorted((one, other) => pods(one) - pods(other));
    const node = this.nodes.find(({ name }) => name === nominated) ?? emptiest;
    if (node === undefined) throw new Error('there is no node');
    return node;
  }

  async #review({ name, uid, owner: { namespace } }: Pod, node: Node) {
    const replica = this.replicas[Math.floor(this.clock.random() * this.replicas.length)];
    if (replica === undefined) throw new Error('there is no replica');
    await this.clock.sleep(this.clock.between(2, 10));
    const object = { metadata: { name, namespace, uid }, target: { kind: 'Node', name: node.name } };
    const placement = decodePlacement(binding(node.name, { name, namespace, object }));
    const { decision } = await gate(placement, replica.view, this.#policy, Date.now());
    return respond('r1', decision).response;
  }

  #bind(pod: Pod, node: Node): void {
    const isTrying = ({ leaving, verdict, boundAt }: Pod): boolean =>
      !leaving && verdict === undefined && Date.now() - boundAt < 30_000;
    const waited = pod.waits ? (Date.now() - pod.waits.since) / 1000 : 0;
    this.bound.push({ node, waited, trying: this.#on(node).filter(isTrying).length });
    this.#show(pod, { node, boundAt: Date.now(), nominated: '', waits: undefined });
    if (node.isUp) void this.#start(pod, node);
  }

  // kubelets

  #on = (node: Node): Pod[] => [...this.pods].filter((pod) => pod.node === node);

  async #start(pod: Pod, node: Node): Promise<void> {
    const { boot } = node;
    const now = (): number => Date.now() + node.ahead;
    const isOver = (): boolean => node.boot !== boot || pod.gone || pod.leaving;
    this.#show(pod);
    await this.clock.sleep(this.clock.between(200, 800));
    const works = node.works && pod.owner.passes;
    let lastState = {};
    for (let runs = 0; !isOver(); runs += 1) {
      const startedAt = timeText(now());
      const proof = { state: { running: { startedAt } }, started: false, lastState };
      this.#show(pod, { proof, sandboxAt: pod.sandboxAt ?? now() });
      await this.clock.sleep(works ? toPass : toFail);
      if (isOver()) return;
      if (!works && pod.repaired && pod.verdict === undefined) this.inVain += 1;
      const failed = runs > 0 && node.busy ? exitCode.notPossible : exitCode.failed;
      const ended = { exitCode: works ? exitCode.passed : failed, startedAt, finishedAt: timeText(now()) };
      lastState = { terminated: ended };
      const runsOn = works && pod.owner.witness;
      const verdict = works ? 'passed' : 'failed';
      this.#show(pod, { verdict, proof: runsOn ? { ...proof, started: true } : { state: lastState } });
      if (works) return this.#control(pod.owner);
      await this.clock.sleep(Math.min(firstPause * 2 ** runs, longestPause));
    }
  }

  async #stop(pod: Pod): Promise<void> {
    do await this.clock.sleep(pod.node ? 1000 : 0);
    while (pod.node?.isUp === false);
    pod.gone = true;
    this.pods.delete(pod);
    this.#api.put(podObject(pod), true);
    this.#control(pod.owner);
  }

  // the API server

  #show(pod: Pod, change: Partial<Pod> = {}): void {
    Object.assign(pod, change);
    if (!pod.gone) pod.version = this.#api.put(podObject(pod));
  }

  /** Handles a write request of repair or of steering. */
  #write(method: string, path: string, body: unknown): unknown {
    const [, name] = /\/pods\/([^/]+)/.exec(path) ?? [];
    const pod = [...this.pods].find((one) => one.name === name);
    if (pod === undefined) throw refusal(path, 404, {});
    const { preconditions: only, status } = body as Written;
    if (method === 'DELETE') {
      if (only?.uid !== pod.uid || only?.resourceVersion !== pod.version) throw refusal(path, 409, {});
      if (pod.verdict !== 'failed') throw new Error(`repair deletes ${pod.name}, whose proof did not fail`);
      this.deleted.push(pod);
      this.#unreplaced.add(pod);
      this.remove(pod);
    } else if (pod.node === undefined) this.#show(pod, { nominated: status?.nominatedNodeName ?? '' });
    return podObject(pod);
  }
}

interface Written {
  preconditions?: { uid: string; resourceVersion: string };
  status?: { nominatedNodeName: string };
}
