import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Container, Pod } from '../../../webhook/core/facts/pod.ts';
import { nodeAddress } from './addresses.ts';

export interface PodFacts {
  pod: Pod;
  podIPs: string[];
}

interface FieldRef {
  fieldRef?: { fieldPath?: string };
}

/**
 * The environment of a container. Like the kubelet, this function resolves downward API fields, and replaces
 * `$(NAME)` with the value of a Service's variable (`makeEnvironmentVariables`).
 */
export function environmentOf(
  container: Container,
  facts: PodFacts,
  ofServices: Record<string, string> = {},
): Record<string, string> {
  const variables = (container.env ?? []).map(({ name, value = '', valueFrom }) => {
    const path = (valueFrom as FieldRef | undefined)?.fieldRef?.fieldPath;
    const text = value.replace(/\$\((\w+)\)/g, (all, variable) => ofServices[variable] ?? all);
    return [name, path === undefined ? text : fieldOf(path, facts)] as const;
  });
  return { ...ofServices, ...Object.fromEntries(variables) };
}

export function fieldOf(path: string, { pod, podIPs }: PodFacts): string {
  const annotation = /^metadata\.annotations\['([^']*)'\]$/.exec(path)?.[1];
  if (annotation !== undefined) return pod.metadata.annotations?.[annotation] ?? '';
  if (path === 'status.podIPs') return podIPs.join(',');
  if (path === 'status.hostIPs') return Object.values(nodeAddress).join(',');
  if (path === 'metadata.namespace') return pod.metadata.namespace ?? '';
  throw new Error(`these tests do not know the downward API field ${path}`);
}

/**
 * Makes a downward API volume with one file. Like the kubelet, it replaces the link to the file's folder by renaming a
 * new link.
 * @returns a function that writes the file again
 */
export function downwardVolume(folder: string, file: string, text: string): (text: string) => void {
  let written = 0;
  const write = (text: string): void => {
    written += 1;
    mkdirSync(join(folder, `..${written}`));
    writeFileSync(join(folder, `..${written}`, file), text, { mode: 0o644 });
    symlinkSync(`..${written}`, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  mkdirSync(folder, { recursive: true });
  symlinkSync(join('..data', file), join(folder, file));
  write(text);
  return write;
}
