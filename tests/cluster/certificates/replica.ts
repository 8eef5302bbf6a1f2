import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { opsLimits } from '../../../webhook/lib/limits.ts';
import { main } from '../../support/command.ts';
import { type Answer, exchange } from '../../support/exchange.ts';
import { mortal } from '../../support/mortal.ts';
import type { Access } from '../harness/access.ts';
import { eventually } from '../harness/eventually.ts';
import { sumIn } from '../harness/metrics.ts';
import { LoggingProcess } from '../harness/process.ts';

/** The port of all replicas, because an EndpointSlice has one port for all of its addresses. */
export const port = 8443;
const opsPort = 8080;

/** `cni-gate serve` as a process that stands in for a pod of the Deployment. */
export class Replica extends LoggingProcess {
  readonly host: string;

  constructor(host: string, access: Access, flags: string[]) {
    const own = ['--host', host, '--port', String(port), '--ops-port', String(opsPort)];
    const args = [main, 'serve', ...own, '--kubeconfig', access.kubeconfig, ...flags];
    super(
      spawn(...mortal(process.execPath, args), {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: process.env.PATH, POD_NAMESPACE: 'cni-gate' },
      }),
    );
    this.host = host;
  }

  async served(): Promise<X509Certificate> {
    const socket = connect({ host: this.host, port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const certificate = socket.getPeerX509Certificate();
    socket.destroy();
    assert.ok(certificate);
    return certificate;
  }

  async servesBy(authority: { certificate: string }, seconds = 60): Promise<void> {
    const { publicKey } = new X509Certificate(authority.certificate);
    await eventually(async () => assert.ok((await this.served()).verify(publicKey)), seconds);
  }

  ops(path: string): Promise<Answer> {
    return exchange(request({ host: this.host, port: opsPort, path, agent: false }), '');
  }

  async metric(name: string, labels?: Record<string, string>): Promise<number> {
    // the server caches the text of its metrics for `metricsAge`, so this waits until the cache has expired
    await sleep(opsLimits.metricsAge + 100);
    return sumIn((await this.ops('/metrics')).body, name, labels);
  }
}
