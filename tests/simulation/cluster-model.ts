import { Registry } from 'prom-client';
import { exitCode } from '../../validator/shared/contract.ts';
import { gate } from '../../webhook/admission/gate/gate.ts';
import { respond } from '../../webhook/admission/respond.ts';
import { refusal } from '../../webhook/cluster/errors.ts';
import { clusterMetrics } from '../../webhook/cluster/metrics.ts';
import { type NodesView, watchGate } from '../../webhook/cluster/view/watch-nodes.ts';
import type { Policy } from '../../webhook/config/policy.ts';
import { repairController, steeringController } from '../../webhook/leader/start.ts';
import { bindingsWebhook } from '../../webhook/lib/names.ts';
import { timeText } from '../../webhook/lib/time-text.ts';
import { policyOf } from '../support/configurations.ts';
import { binding } from '../unit/admission/gate/support.ts';
import { switchedLead } from '../unit/leader/scene.ts';
import { Api, ModelClient } from './api.ts';
import { type Clock, startClock } from './clock.ts';
import { daemonSet, Node, Owner, Pod } from './objects.ts';

/** Pauses of the scheduler between attempts to bind a pod, in milliseconds; the last one repeats (kube-scheduler 1.36). */
const retries = [1100, 3000, 5000, 9000, 11_000];
/** How long a proof takes, and the kubelet's pause before a container is started again, in milliseconds. */
const [toPass, toFail, firstPause, longestPause] = [2000, 10_000, 10_000, 300_000];

export interface Options {
  seed?: number;
  /** Replicas of cni-gate. The first one leads. */
  replicas?: number;
  /** What a node needs: `gate.evidence`. */
  evidence?: 'ready' | 'proof';
  maxHold?: string;
}

/** A scheduler, controllers, kubelets and an API server, which are a model, and replicas of the real program. */
export class Cluster {
  readonly clock: Clock;
  readonly nodes: Node[] = [];
  readonly owners: Owner[] = [];
  readonly pods = new Set<Pod>();
  readonly replicas: { client: ModelClient; view: NodesView; lead: (now: boolean) => void }[] = [];
  /** The pods that repair deleted, and when. */
  readonly deleted: { pod: Pod; at: number }[] = [];
  /** Each binding, with the number of other pods that were bound to the node before and have no verdict. */
  readonly bound: { pod: Pod; node: Node; at: number; trying: number }[] = [];
  /** How many pods failed for which repair had deleted another. */
  inVain = 0;
  readonly #api: Api;
  readonly #policy: Policy;
  /** Pods that repair deleted, and that are not replaced yet. */
  readonly #unreplaced = new Set<Pod>();
  #made = 0;
  #leader = 0;

  constructor({ seed = 1, replicas = 2, evidence = 'proof', maxHold = '10m' }: Options = {}) {
    this.clock = startClock(seed);
    this.#api = new Api(this.clock, (method, path, body) => this.#write(method, path, body));
    const daemonSets = [{ namespace: 'net', name: 'agent' }];
    const profiles = [{ name: 'mesh', daemonSets, proof: { checks: [] }, evidence }];
    this.#policy = policyOf({ profiles, repair: { mode: 'recreate' }, gate: { maxHold } });
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
    const deps = { view, policy, leader, log, events: { capacity: 200, add: () => {} } };
    for (const controller of [steeringController, repairController]) {
      void controller(client, deps, registry).run(new AbortController().signal);
    }
    this.replicas.push({ client, view, lead });
  }

  /** Adds a node, or changes it. */
  node(name: string, more: Partial<Node> = {}): Node {
    const known = this.nodes.find((node) => node.name === name);
    const node = known ? Object.assign(known, more) : new Node(name, more);
    if (!known) this.nodes.push(node);
    for (const object of node.objects()) this.#api.put(object);
    return node;
  }

  owner(name: string, replicas: number, more: Partial<Owner> = {}): Owner {
    const owner = new Owner(name, replicas, more);
    this.owners.push(owner);
    this.#api.put(owner.object());
    this.#control(owner);
    return owner;
  }

  seconds = (seconds: number): Promise<void> => this.clock.run(seconds * 1000);

  /** @returns after how many seconds all pods run that can pass; infinity where they do not in time */
  async untilAllRun(seconds: number): Promise<number> {
    for (let passed = 0; passed <= seconds; passed += 1) {
      if (this.waiting().length === 0) return passed;
      await this.seconds(1);
    }
    return Number.POSITIVE_INFINITY;
  }

  /** The owners that can pass, and do not have all their pods running. */
  waiting = (): Owner[] =>
    this.owners.filter((owner) => {
      const running = [...this.pods].filter(
        (pod) => pod.owner === owner && !pod.leaving && pod.verdict === 'passed',
      );
      return owner.passes && running.length < owner.replicas;
    });

  /** All sandboxes end. The kubelet is back 5 s later, and the plugin after some seconds more. */
  async reboot(node: Node, late = 5): Promise<void> {
    const boot = node.boot + 1;
    Object.assign(node, { boot, isUp: false, works: false, ready: false });
    const there = [...this.pods].filter((pod) => pod.node === node);
    for (const pod of there) Object.assign(pod, { verdict: undefined, sandboxAt: undefined });
    await this.clock.sleep(5000);
    this.node(node.name, { isUp: true });
    for (const pod of there) void this.#start(pod, node);
    await this.clock.sleep(late * 1000);
    if (node.boot === boot) this.startAgent(node, { works: true });
  }

  /** The agent has a new container, and is Ready. */
  startAgent = (node: Node, more: Partial<Node> = {}): Node =>
    this.node(node.name, { ready: true, agentStarted: Date.now() + node.ahead, ...more });

  /** The kubelet shows sidecars as not started until it has asked them again. */
  async restartKubelet(node: Node): Promise<void> {
    const there = [...this.pods].filter((pod) => pod.node === node && pod.verdict === 'passed');
    for (const started of [false, true]) {
      for (const pod of there) this.#show(pod, { proof: { ...pod.proof, started } });
      await this.clock.sleep(1000);
    }
  }

  /** The next replica leads. */
  changeLead(): void {
    this.#leader = (this.#leader + 1) % this.replicas.length;
    for (const [index, { lead }] of this.replicas.entries()) lead(index === this.#leader);
  }

  /** Somebody deletes a pod, or repair does. */
  remove(pod: Pod): void {
    this.#show(pod, { leaving: true });
    if (pod.owner.kind === 'ReplicaSet') this.#control(pod.owner);
    void this.#stop(pod);
  }

  // controllers

  #control(owner: Owner): void {
    const isOrdered = owner.kind === 'StatefulSet';
    const own = [...this.pods].filter((pod) => pod.owner === owner && (isOrdered || !pod.leaving));
    for (let ordinal = 0; ordinal < owner.replicas; ordinal += 1) {
      const name = `${owner.name}-${isOrdered ? ordinal : this.#made}`;
      const known = isOrdered ? own.find((pod) => pod.name === name) : own[ordinal];
      if (known === undefined) this.#create(name, owner);
      // the pods of a StatefulSet come in their order, each once the one before is Ready
      if (isOrdered && known?.verdict !== 'passed') return;
    }
  }

  #create(name: string, owner: Owner): void {
    this.#made += 1;
    const [before] = [...this.#unreplaced].filter((pod) => pod.owner === owner);
    const repaired = before !== undefined && this.#unreplaced.delete(before);
    const pod = new Pod(name, `uid-${this.#made}`, owner, repaired);
    this.pods.add(pod);
    this.#show(pod);
    void this.#schedule(pod);
  }

  // the scheduler

  async #schedule(pod: Pod): Promise<void> {
    await this.clock.sleep(this.clock.between(20, 200) + pod.owner.volumes);
    for (let attempt = 0; !pod.gone && !pod.leaving; ) {
      const node = this.#nodeFor(pod);
      const answer = node && (await this.#review(pod, node));
      if (node && answer?.allowed) return this.#bind(pod, node);
      const refused = `running Bind plugin "DefaultBinder": admission webhook "${bindingsWebhook}" denied the request: `;
      const message = answer ? `${refused}${answer.status?.message}` : '0/0 nodes are available';
      if (pod.waits?.message !== message)
        this.#show(pod, { waits: { since: Date.now(), ...pod.waits, message } });
      await this.clock.sleep(answer ? (retries[attempt] ?? 0) : 1000);
      if (answer && attempt < retries.length - 1) attempt += 1;
    }
  }

  /** The nominated node, or the one with the fewest pods: it does not matter which one was refused before. */
  #nodeFor({ nominated }: Pod): Node | undefined {
    const on = (node: Node): number => [...this.pods].filter((pod) => pod.node === node).length;
    const open = this.nodes.filter((node) => on(node) < node.room);
    return open.find(({ name }) => name === nominated) ?? open.sort((one, other) => on(one) - on(other))[0];
  }

  async #review({ name, uid, owner: { namespace } }: Pod, node: Node) {
    const replica = this.replicas[Math.floor(this.clock.random() * this.replicas.length)];
    if (replica === undefined) throw new Error('there is no replica');
    await this.clock.sleep(this.clock.between(2, 10));
    const object = { metadata: { name, namespace, uid }, target: { kind: 'Node', name: node.name } };
    const review = binding(node.name, { name, namespace, object });
    const { decision } = await gate(review, replica.view, this.#policy, Date.now());
    return respond('r1', decision).response;
  }

  #bind(pod: Pod, node: Node): void {
    const isTrying = (one: Pod): boolean =>
      one.node === node && !one.leaving && one.verdict === undefined && Date.now() - one.boundAt < 30_000;
    const trying = [...this.pods].filter(isTrying).length;
    this.bound.push({ pod, node, at: this.clock.now, trying });
    this.#show(pod, { node, boundAt: Date.now(), nominated: '', waits: undefined });
    if (node.isUp) void this.#start(pod, node);
  }

  // kubelets

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
      const isWitness = works && pod.owner.witness;
      this.#show(pod, {
        verdict: works ? 'passed' : 'failed',
        proof: isWitness ? { ...proof, started: true } : { state: lastState },
      });
      if (works) return this.#control(pod.owner);
      await this.clock.sleep(Math.min(firstPause * 2 ** runs, longestPause));
    }
  }

  async #stop(pod: Pod): Promise<void> {
    while (pod.node !== undefined) {
      await this.clock.sleep(1000);
      if (pod.node.isUp) break;
    }
    pod.gone = true;
    this.pods.delete(pod);
    this.#api.put(pod.object(), true);
    this.#control(pod.owner);
  }

  // the API server

  #show(pod: Pod, change: Partial<Pod> = {}): void {
    Object.assign(pod, change);
    if (!pod.gone) pod.version = this.#api.put(pod.object());
  }

  /** A request of repair or of steering. */
  #write(method: string, path: string, body: unknown): unknown {
    const [, name] = /\/pods\/([^/]+)/.exec(path) ?? [];
    const pod = [...this.pods].find((one) => one.name === name);
    if (pod === undefined) throw refusal(path, 404, {});
    const { preconditions: only, status } = body as Written;
    if (method === 'DELETE') {
      if (only?.uid !== pod.uid || only.resourceVersion !== pod.version) throw refusal(path, 409, {});
      if (pod.verdict !== 'failed') throw new Error(`repair deletes ${pod.name}, whose proof did not fail`);
      this.deleted.push({ pod, at: this.clock.now });
      this.#unreplaced.add(pod);
      this.remove(pod);
    } else if (pod.node === undefined) this.#show(pod, { nominated: status?.nominatedNodeName ?? '' });
    return pod.object();
  }
}

interface Written {
  preconditions?: { uid: string; resourceVersion: string };
  status?: { nominatedNodeName: string };
}
