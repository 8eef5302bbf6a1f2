import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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

type Plans = ReturnType<typeof planComponents>;

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
  readonly components: Record<ComponentName, Component>;
  #users = 0;

  private constructor({ folder, ports, options, access }: Layout, authority: ClusterAuthority, plans: Plans) {
    this.folder = folder;
    this.server = access.admin.server;
    this.authority = authority;
    this.admin = access.admin;
    this.api = new Api(access.admin);
    this.ports = ports;
    this.options = options;
    this.components = Object.fromEntries(
      Object.entries(plans).map(([name, plan]) => [name, new Component(plan)]),
    ) as Record<ComponentName, Component>;
  }

  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
    mkdirSync(join(folder, 'log'));
    const authority = await ClusterAuthority.create();
    const layout = await layOut(folder, authority, options);
    const cluster = new Cluster(layout, authority, planComponents(layout));
    await cluster.#start();
    return cluster;
  }

  async #start(): Promise<void> {
    const { etcd, 'kube-apiserver': apiServer, ...others } = this.components;
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

  /** Ends all components, each before those that it depends on. */
  async stop(): Promise<void> {
    this.api.close();
    for (const name of componentNames.toReversed()) await this.components[name].kill();
    // etcd's data uses memory, because the temporary folder is a tmpfs; the logs stay until the run ends
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
    const lines = readFileSync(auditLog(this.folder), 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  }

  #access(credentials: Access['credentials']): Access {
    this.#users += 1;
    return accessWith(this.server, join(this.folder, `user-${this.#users}.kubeconfig`), credentials);
  }
}
