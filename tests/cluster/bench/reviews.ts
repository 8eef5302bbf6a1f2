import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { Pod } from '../gate/scene.ts';
import { answered, readAll } from '../harness/http.ts';
import type { GateServer } from '../harness/server.ts';
import { nodeName } from './fill.ts';

const recorded = new URL('../../reviews/binding-deployment-web.json', import.meta.url);

/** Calls `/gate` as the API server does, over one connection that is kept, about bindings of some pods. */
export class Reviews {
  readonly #server: GateServer;
  readonly #pods: readonly Pod[];
  readonly #template = JSON.parse(readFileSync(recorded, 'utf8'));
  // its certificate is one that it made for itself
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });

  constructor(server: GateServer, pods: readonly Pod[]) {
    this.#server = server;
    this.#pods = pods;
  }

  /**
   * Asks about one pod and one node, of so many nodes: another pair for each index.
   *
   * @throws Error where it was let through for want of knowledge
   */
  async ask(index: number, nodes: number): Promise<void> {
    const pod = this.#pods[index % this.#pods.length];
    if (pod === undefined) throw new Error('no pods');
    const { name, namespace, uid } = pod.metadata;
    const target = { kind: 'Node', name: nodeName((index * 37) % nodes) };
    const template = this.#template;
    const object = { ...template.request.object, metadata: { name, namespace, uid }, target };
    const body = { ...template, request: { ...template.request, name, namespace, object } };
    const { host, port } = this.#server;
    const headers = { 'content-type': 'application/json' };
    const sent = request({ agent: this.#agent, host, port, path: '/gate', method: 'POST', headers });
    const { response } = JSON.parse(await readAll(await answered(sent, JSON.stringify(body))));
    if (response.warnings !== undefined) throw new Error(`not known: ${response.warnings}`);
  }

  close(): void {
    this.#agent.destroy();
  }
}
