import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey } from '../../../certs/keys.ts';
import { type Access, accessWith, type Server } from './access.ts';
import { Api } from './api.ts';
import { Component } from './component.ts';
import { type Kubectl, kubectlFor } from './kubectl.ts';
import { type ClusterOptions, type ComponentName, componentNames } from './options.ts';
import { ClusterAuthority } from './pki.ts';
import { auditLog, kubernetesService, type Layout, planComponents } from './plans.ts';
import { freePorts } from './ports.ts';

/**
 * A real control plane: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and kwok for nodes that are
 * none. It lives on the loopback of the runner's network, and ends with the process that started it.
 */
export class Cluster {
  readonly server: Server;
  /** Scratch: everything of this cluster is in here, and gone after the run. */
  readonly folder: string;
  /** For certificates of kubelets and of webhooks that let the API server in by certificate only. */
  readonly authority: ClusterAuthority;
  /** May do everything (`system:masters`). */
  readonly admin: Access;
  readonly api: Api;
  readonly components: Record<ComponentName, Component>;
  readonly ports: Layout['ports'];
  readonly options: ClusterOptions;
  #users = 0;

  private constructor(layout: Layout, authority: ClusterAuthority) {
    this.folder = layout.folder;
    this.server = layout.access.admin.server;
    this.authority = authority;
    this.admin = layout.access.admin;
    this.api = new Api(this.admin);
    this.ports = layout.ports;
    this.options = layout.options;
    this.components = Object.fromEntries(
      Object.entries(planComponents(layout)).map(([name, plan]) => [name, new Component(plan)]),
    ) as Record<ComponentName, Component>;
  }

  /**
   * Starts a control plane from nothing, and waits until pods can be made in it.
   *
   * @throws Error with the end of a component's log where one does not start
   */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
    mkdirSync(join(folder, 'log'));
    const authority = await ClusterAuthority.create();
    const cluster = new Cluster(await layOut(folder, authority, options), authority);
    await cluster.#startComponents();
    return cluster;
  }

  async #startComponents(): Promise<void> {
    const { etcd, 'kube-apiserver': apiServer, ...others } = this.components;
    try {
      await etcd.start();
      await apiServer.start();
      await Promise.all(Object.values(others).map((component) => component.start()));
      // pods name it, and are refused until the controllers have made it
      await this.api.until('/api/v1/namespaces/default/serviceaccounts', () => true);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Ends every component: those first that need others. */
  async stop(): Promise<void> {
    this.api.close();
    for (const name of componentNames.toReversed()) await this.components[name].kill();
    // temporary files of a run are in memory; logs stay until its end
    rmSync(join(this.folder, 'etcd'), { recursive: true, force: true });
  }

  /** Runs kubectl as the administrator. */
  readonly kubectl: Kubectl = (args, options) => kubectlFor(this.admin)(args, options);

  /** Lets somebody in who shows a certificate. What they may do is for RBAC to say. */
  async user(name: string, groups: readonly string[] = []): Promise<Access> {
    return this.#access(await this.authority.client(name, groups));
  }

  /**
   * Lets somebody in as a service account, with a token as the kubelet asks it for pods (TokenRequest).
   *
   * @param seconds how long the token is good for: 600 at least
   */
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

  /** Every request that the API server recorded; needs the option `audit`. */
  audited<T>(): T[] {
    const lines = readFileSync(auditLog(this.folder), 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  }

  #access(credentials: Access['credentials']): Access {
    this.#users += 1;
    return accessWith(this.server, join(this.folder, `user-${this.#users}.kubeconfig`), credentials);
  }
}

/** Chooses ports, and makes keys, certificates and kubeconfigs. */
async function layOut(folder: string, authority: ClusterAuthority, options: ClusterOptions): Promise<Layout> {
  const [tokens, serving, kubelet, admin, controllers, scheduler, chosen] = await Promise.all([
    generateKey(),
    authority.serving(['localhost', '127.0.0.1', kubernetesService, 'kubernetes.default.svc']),
    authority.client('kube-apiserver-kubelet-client', ['system:masters']),
    authority.client('admin', ['system:masters']),
    authority.client('system:kube-controller-manager'),
    authority.client('system:kube-scheduler'),
    freePorts(5),
  ]);
  const [etcd = 0, etcdPeers = 0, apiServer = 0, controllerManager = 0, schedulerPort = 0] = chosen;
  const server = { url: `https://127.0.0.1:${apiServer}`, authority: authority.pair.certificate };
  const save = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const accessOf = (name: string, pair: Access['credentials']): Access =>
    accessWith(server, join(folder, `${name}.kubeconfig`), pair);
  return {
    folder,
    options,
    ports: {
      etcd,
      etcdPeers,
      'kube-apiserver': apiServer,
      'kube-controller-manager': controllerManager,
      'kube-scheduler': schedulerPort,
    },
    files: {
      authority: save('authority.crt', authority.pair.certificate),
      authorityKey: save('authority.key', authority.pair.key),
      server: save('server.crt', serving.certificate),
      serverKey: save('server.key', serving.key),
      tokens: save('tokens.pub', tokens.publicKey),
      tokensKey: save('tokens.key', tokens.privateKey),
      kubelet: save('kubelet-client.crt', kubelet.certificate),
      kubeletKey: save('kubelet-client.key', kubelet.key),
    },
    access: {
      admin: accessOf('admin', admin),
      controllers: accessOf('controllers', controllers),
      scheduler: accessOf('scheduler', scheduler),
    },
  };
}
