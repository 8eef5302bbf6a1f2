import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import type { Controller, PodEvidence } from '../../nodes/evidence/facts.ts';

/** How many ReplicaSets are remembered. */
const most = 1000;

interface Owned {
  metadata: { uid: string; ownerReferences?: (Controller & { controller?: boolean })[] | null };
}

/** Finds the object that users look at: the Deployment of a ReplicaSet, else the pod's controller itself. */
export class WorkloadsOfPods {
  readonly #client: ApiClient;
  /** By the pods' owner and the name that they give. */
  readonly #known = new Map<string, Controller>();

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Never throws: a ReplicaSet that cannot be read stands for itself. */
  async of(
    { namespace, owner }: Pick<PodEvidence, 'namespace' | 'owner'>,
    controller: Controller,
  ): Promise<Controller> {
    const { apiVersion, kind, name, uid } = controller;
    if (apiVersion !== 'apps/v1' || kind !== 'ReplicaSet') return controller;
    // the API server does not check references: the name may be that of another ReplicaSet
    const key = `${owner} ${name}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const path = apiPath`/apis/apps/v1/namespaces/${namespace}/replicasets/${name}`;
    try {
      const { metadata } = await this.#client.request<Owned>('GET', path, { timeout: 5000 });
      const above = metadata.ownerReferences?.find((one) => one.controller === true);
      const found = metadata.uid === uid && above !== undefined ? above : controller;
      if (this.#known.size >= most) this.#known.clear();
      const workload = { apiVersion: found.apiVersion, kind: found.kind, name: found.name, uid: found.uid };
      this.#known.set(key, workload);
      return workload;
    } catch {
      return controller;
    }
  }
}
