import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../../support/bundle.ts';
import { imageFlags } from '../../support/command.ts';
import { contained, type Mount, signal } from '../../support/container/container.ts';
import type { Cluster } from '../harness/cluster.ts';
import { LoggingProcess } from '../harness/process.ts';
import { fieldOf, type Volume, writeVolume } from './volumes.ts';

export interface StoredPod {
  metadata: { name: string; namespace: string; uid: string };
  spec: {
    serviceAccountName: string;
    nodeName?: string;
    hostNetwork?: boolean;
    volumes: Volume[];
    containers: StoredContainer[];
  };
  status: { phase: string; podIP?: string };
}

interface StoredContainer {
  name: string;
  image: string;
  args: string[];
  ports?: { name: string; containerPort: number }[];
  env?: { name: string; value?: string; valueFrom?: { fieldRef?: { fieldPath: string } } }[];
  volumeMounts: { name: string; mountPath: string }[];
}

/** A stored pod of our Deployment that runs as a process at the pod's address. */
export interface RunningPod {
  pod: StoredPod;
  child: ChildProcess;
  opsUrl: string;
  lines: Record<string, unknown>[];
  ops(path: string): Promise<Response>;
  refresh(): Promise<void>;
  end(name?: NodeJS.Signals): Promise<number | null>;
}

/** The user ID that the image sets. The tests do not depend on its value. */
const uid = 65_532;
const opsPort = 8080;

/** Runs a pod's container as the kubelet would, at the pod's address. */
export async function startPod(cluster: Cluster, pod: StoredPod): Promise<RunningPod> {
  const host = fieldOf(pod, 'status.podIP');
  const { child, refresh } = await spawnContainer(cluster, pod, ['--host', host]);
  const server = new LoggingProcess(child, (name) => signal(child, name));
  await server.serving();
  const opsUrl = `http://${host}:${opsPort}`;
  return {
    pod,
    child,
    opsUrl,
    lines: server.lines,
    ops: (path) => fetch(`${opsUrl}${path}`),
    refresh,
    end: (name) => server.end(name),
  };
}

export async function runPod(cluster: Cluster, pod: StoredPod): Promise<{ code: number; output: string }> {
  const { child } = await spawnContainer(cluster, pod, []);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  return { code, output };
}

async function spawnContainer(
  cluster: Cluster,
  pod: StoredPod,
  more: string[],
): Promise<{ child: ChildProcess; refresh: () => Promise<void> }> {
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error('a pod without containers');
  const scratch = mkdtempSync(join(tmpdir(), 'pod-'));
  const root = join(scratch, 'root');
  mkdirSync(root, { mode: 0o755 });
  const folder = (name: string): string => join(scratch, 'volumes', name);
  const refresh = async (): Promise<void> => {
    for (const volume of pod.spec.volumes) await writeVolume(cluster, pod, volume, folder(volume.name));
  };
  await refresh();
  const mounts: Mount[] = [
    ...['/usr', '/lib', '/lib64'].map((path): Mount => [path, path]),
    [program.folder, '/app'],
    [process.execPath, '/node'],
    ...container.volumeMounts.map(({ name, mountPath }): Mount => [folder(name), mountPath]),
  ];
  const command = ['/node', ...imageFlags, `/app/${program.file}`, ...container.args, ...more];
  const child = spawn(...contained({ root, uid, mounts }, command), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, ...environment(cluster, pod, container) },
  });
  return { child, refresh };
}

/** The environment that the kubelet sets, except that the API server's own address replaces its Service's. */
function environment(
  cluster: Cluster,
  pod: StoredPod,
  { env = [] }: StoredContainer,
): Record<string, string> {
  const { hostname, port } = new URL(cluster.server.url);
  return {
    // container runtimes set HOME even for a user without a home folder
    HOME: '/',
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    ...Object.fromEntries(
      env.map(({ name, value = '', valueFrom }) => [
        name,
        valueFrom?.fieldRef ? fieldOf(pod, valueFrom.fieldRef.fieldPath) : value,
      ]),
    ),
  };
}
