import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../../cluster/harness/eventually.ts';
import { imageFlags, main } from '../../support/command.ts';
import { mortal } from '../../support/mortal.ts';
import { ControlGroup, containerMemory } from './control-group.ts';
import type { Endpoint } from './direct-innocents.ts';
import type { Target } from './observer.ts';

export interface AttackedServer extends Target, Endpoint {
  opsPort: number;
}

/** Starts `cni-gate serve` from the sources, with the memory limit of the container in the manifests. */
export async function startAttackedServer(t: TestContext, api: string): Promise<AttackedServer> {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-attack-'));
  const file = (name: string, text = ''): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const authority = join(folder, 'ca.crt');
  // the log goes to a file, because a pipe to this process would block the server while the attacker is busy
  const log = file('log');
  const group = new ControlGroup('server', { memory: containerMemory });
  const command = group.inside(
    mortal(process.execPath, [
      ...[...imageFlags, main, 'serve', '--tls-ca-out', authority],
      ...[
        '--config',
        file('config.yaml', configuration),
        '--kubeconfig',
        file('kubeconfig', kubeconfig(api)),
      ],
      ...['--host', '127.0.0.1', '--port', '0', '--ops-port', '0', '--own-namespace', 'cni-gate'],
    ]),
  );
  const output = openSync(log, 'a');
  const child = spawn(...command, { stdio: ['ignore', output, output] });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
    await group.remove();
    rmSync(folder, { recursive: true });
  });
  const read = (): string => readFileSync(log, 'utf8');
  const serving = await eventually(async () => {
    const line = read()
      .split('\n')
      .find((text) => text.includes('"serving admission reviews"'));
    if (line === undefined) throw new Error(`the server does not serve: ${child.exitCode}\n${read()}`);
    return JSON.parse(line) as { port: number; opsPort: number };
  });
  const ops = `http://127.0.0.1:${serving.opsPort}`;
  // ten seconds after it has listed the namespaces, the server is ready, even if it has not listed all nodes and pods
  await eventually(async () => {
    const response = await fetch(`${ops}/readyz`, { headers: { connection: 'close' } });
    const text = await response.text();
    if (!response.ok) throw new Error(`the server is not ready: ${text}`);
  }, 60);
  const ca = readFileSync(authority, 'utf8');
  const metrics = `${ops}/metrics`;
  return { pid: child.pid ?? 0, group: group.folder, metrics, host: '127.0.0.1', ...serving, ca };
}

/** The configuration of the manifests, and a profile that adds a network, even to pods that request other networks. */
const configuration = `apiVersion: cni-gate.io/v1alpha1
kind: Configuration
proof:
  mode: enforce
profiles:
  - name: nets
    annotations:
      k8s.v1.cni.cncf.io/networks: '[{"name":"storage","cni-args":{"mtu":1}}]'
    proof:
      checks: [{ interfaces: {} }]
`;

const kubeconfig = (server: string): string => `apiVersion: v1
kind: Config
clusters: [{ name: fake, cluster: { server: "${server}", insecure-skip-tls-verify: true } }]
users: [{ name: nobody, user: {} }]
contexts: [{ name: fake, context: { cluster: fake, user: nobody } }]
current-context: fake
`;
