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
 * The environment of a container. Like the kubelet, it resolves downward API fields, and replaces `$(NAME)` by a
 * variable of a Service (`makeEnvironmentVariables`).
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

/** A downward API volume with one file. Like the kubelet, it replaces the link to the file's folder by a rename. */
export class DownwardVolume {
  readonly #folder: string;
  readonly #file: string;
  #written = 0;

  constructor(folder: string, file: string, text: string) {
    this.#folder = folder;
    this.#file = file;
    mkdirSync(folder, { recursive: true });
    symlinkSync(join('..data', file), join(folder, file));
    this.write(text);
  }

  write(text: string): void {
    this.#written += 1;
    const version = `..${this.#written}`;
    mkdirSync(join(this.#folder, version));
    writeFileSync(join(this.#folder, version, this.#file), text, { mode: 0o644 });
    symlinkSync(version, join(this.#folder, '..data_tmp'));
    renameSync(join(this.#folder, '..data_tmp'), join(this.#folder, '..data'));
  }
}
