import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../support/run.ts';
import { programPath } from '../binaries/ensure.ts';
import { type Access, accessWith, type Server } from './access.ts';
import { Api } from './api.ts';
import { auditLog } from './api-server.ts';
import { Component } from './component.ts';
import { type Layout, layOut } from './layout.ts';
import { type ClusterOptions, type ComponentName, componentNames } from './options.ts';
import { ClusterAuthority } from './pki.ts';
import { planComponents } from './plans.ts';
import { type Shared, takeShared } from './shared.ts';

/** A request in the API server's audit log (audit.k8s.io/v1 Event), with the fields that tests read. */
export interface Audited {
  user: { username: string };
  verb: string;
  objectRef?: {
    apiGroup?: string;
    resource: string;
    subresource?: string;
    namespace?: string;
    name?: string;
  };
  responseStatus?: { code: number };
  requestReceivedTimestamp: string;
}

/** A real control plane: etcd, API server, controller manager and scheduler, with kwok for simulated nodes. */
export class Cluster {
  readonly server: Server;
  readonly folder: string;
  /** The authority that signs the certificates of the cluster's servers and users. */
  readonly authority: ClusterAuthority;
  /** An administrator with every right (`system:masters`). */
  readonly admin: Access;
  readonly api: Api;
  readonly ports: Layout['ports'];
  readonly options: ClusterOptions;
  readonly #components: Record<ComponentName, Component> | undefined;
  readonly #audit: { path: string; from: number };
  #users = 0;

  private constructor(
    { folder, ports, options }: Pick<Layout, 'folder' | 'ports' | 'options'>,
    authority: ClusterAuthority,
    admin: Access,
    components?: Record<ComponentName, Component>,
    audit = { path: auditLog(folder), from: 0 },
  ) {
    this.folder = folder;
    this.server = admin.server;
    this.authority = authority;
    this.admin = admin;
    this.api = new Api(admin);
    this.ports = ports;
    this.options = options;
    this.#components = components;
    this.#audit = audit;
  }

  /** @throws Error if the control plane is shared with other test files: start it with the option `own` instead */
  get components(): Record<ComponentName, Component> {
    if (this.#components === undefined) throw new Error('start the control plane with { own: true }');
    return this.#components;
  }

  /** Starts a control plane. Without options, returns the one that the worker's test files share, if there is one. */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
    const shared = Object.keys(options).length === 0 ? await takeShared() : undefined;
    if (shared !== undefined) return Cluster.#of(shared, folder);
    mkdirSync(join(folder, 'log'));
    const authority = await ClusterAuthority.create();
    const layout = await layOut(folder, authority, options);
    const components = Object.fromEntries(
      Object.entries(planComponents(layout)).map(([name, plan]) => [name, new Component(plan)]),
    ) as Record<ComponentName, Component>;
    const cluster = new Cluster(layout, authority, layout.access.admin, components);
    await cluster.#start(components);
    return cluster;
  }

  static #of({ server, authority, admin, ports, auditLog: path }: Shared, folder: string): Cluster {
    const access = accessWith(server, join(folder, 'admin.kubeconfig'), admin);
    const audit = { path, from: statSync(path).size };
    return new Cluster(
      { folder, ports, options: {} },
      new ClusterAuthority(authority),
      access,
      undefined,
      audit,
    );
  }

  async #start(components: Record<ComponentName, Component>): Promise<void> {
    const { etcd, 'kube-apiserver': apiServer, ...others } = components;
    try {
      await etcd.start();
      await apiServer.start();
      await Promise.all(Object.values(others).map((component) => component.start()));
      // the API server refuses pods until a controller has created the service account that they name
      await this.api.until('/api/v1/namespaces/default/serviceaccounts', () => true);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Ends every component, dependent ones first. A shared control plane keeps running. */
  async stop(): Promise<void> {
    this.api.close();
    for (const name of componentNames.toReversed()) await this.#components?.[name].kill();
    // etcd's data takes memory, because the run's temporary folder is there; the logs stay until the run ends
    rmSync(join(this.folder, 'etcd'), { recursive: true, force: true });
  }

  /** Runs kubectl as the administrator. @param options.input objects are sent as a List @returns standard output */
  kubectl(args: string[], { input = '' }: { input?: string | object[] } = {}): Promise<string> {
    const text =
      typeof input === 'string' ? input : JSON.stringify({ apiVersion: 'v1', kind: 'List', items: input });
    return run(programPath('kubectl'), ['--kubeconfig', this.admin.kubeconfig, ...args], text);
  }

  readonly apply = (...input: object[]): Promise<string> => this.kubectl(['apply', '-f', '-'], { input });

  async user(name: string, groups: readonly string[] = []): Promise<Access> {
    return this.#access(await this.authority.client(name, groups));
  }

  /** Returns access as a service account, with a token from TokenRequest, as the kubelet requests tokens for pods. */
  async serviceAccount(namespace: string, name: string, seconds = 3600): Promise<Access> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: seconds },
    };
    const { status } = await this.api.post<{ status: { token: string } }>(path, body);
    return this.#access({ token: status.token });
  }

  /** The requests of cni-gate since the start, and all deletions and evictions of pods. */
  audited(): Audited[] {
    const lines = readFileSync(this.#audit.path).subarray(this.#audit.from).toString().split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  }

  #access(credentials: Access['credentials']): Access {
    this.#users += 1;
    return accessWith(this.server, join(this.folder, `user-${this.#users}.kubeconfig`), credentials);
  }
}
