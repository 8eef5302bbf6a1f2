import { exitCode } from '../../../validator/shared/contract.ts';
import { profileLabel } from '../../../webhook/lib/names.ts';
import type { Cluster } from '../../cluster/harness/cluster.ts';
import { workload } from '../../cluster/harness/objects.ts';
import { makeNamespace } from '../../cluster/installed/working.ts';
import { standIn } from '../images/images.ts';
import type { History, PodWrite } from './history.ts';

/** A Deployment of many pods on one node. The pods belong to a mesh, and their namespace opted in. */
export class Fleet {
  /** The image of the pods' only container, `linkerd-proxy`. */
  static readonly image = standIn('localhost/meshed:test', 'meshed.ts');
  readonly namespace: string;
  readonly #cluster: Cluster;
  readonly #history: History;

  constructor(cluster: Cluster, history: History, namespace: string) {
    this.#cluster = cluster;
    this.#history = history;
    this.namespace = namespace;
  }

  /** @param elsewhere the URL that the applications call */
  async create(node: string, elsewhere: string): Promise<void> {
    await makeNamespace(this.#cluster, this.namespace, { [profileLabel]: 'linkerd' });
    const container = {
      name: 'linkerd-proxy',
      image: Fleet.image.name,
      env: [{ name: 'ELSEWHERE', value: elsewhere }],
      securityContext: { runAsUser: 1000 },
    };
    const spec = { nodeSelector: { 'kubernetes.io/hostname': node }, containers: [container] };
    await this.#cluster.apply(
      workload('Deployment', 'web', { namespace: this.namespace, replicas: 0, spec }),
    );
  }

  async scale(replicas: number): Promise<void> {
    const path = `/apis/apps/v1/namespaces/${this.namespace}/deployments/web`;
    await this.#cluster.api.patch(path, { spec: { replicas } });
  }

  async deleteAll(): Promise<void> {
    await this.#cluster.api.delete(`/api/v1/namespaces/${this.namespace}/pods`);
  }

  pods(): PodWrite[] {
    return [...this.#history.current.values()].filter(({ namespace }) => namespace === this.namespace);
  }

  /** Waits until `replicas` pods run with a proof. @param old IDs of proofs that do not count */
  running(replicas: number, old: ReadonlySet<string> = new Set()): Promise<number> {
    return this.#history.until(() => {
      const pods = this.pods();
      const good = pods.filter((pod) => isRunning(pod) && !old.has(pod.proof?.id ?? ''));
      return good.length === replicas && pods.length === replicas ? Date.now() : undefined;
    });
  }

  proofs(): Set<string> {
    return new Set(this.#writes().flatMap(({ proof }) => proof?.id ?? []));
  }

  /** The UIDs of pods by the exit code of their proofs. @param old IDs of proofs that do not count */
  verdicts(old: ReadonlySet<string>): Map<number, Set<string>> {
    const found = new Map<number, Set<string>>();
    for (const { uid, proof } of this.#writes()) {
      if (proof === undefined || old.has(proof.id)) continue;
      found.set(proof.exitCode, (found.get(proof.exitCode) ?? new Set()).add(uid));
    }
    return found;
  }

  #writes(): PodWrite[] {
    return this.#history.pods.filter(({ namespace }) => namespace === this.namespace);
  }
}

const isRunning = ({ leaving, phase, proof }: PodWrite): boolean =>
  !leaving && phase === 'Running' && proof?.exitCode === exitCode.passed;
