import { readLink, readText } from './read-text.ts';

/** The network namespace and boot of a verdict: a proof is valid for a sandbox, not for a pod. */
export interface Sandbox {
  /** Inode of the network namespace; numbers repeat after a reboot. */
  netns: string;
  bootId: string;
}

/** The sandbox that this process runs in. */
export function readSandbox(): Sandbox {
  return {
    netns: netnsOf(readLink('/proc/self/ns/net')),
    bootId: readText('/proc/sys/kernel/random/boot_id').trim(),
  };
}

/** The number in `net:[4026532008]` (namespaces(7)), or the text as it is. */
export function netnsOf(link: string): string {
  return /^net:\[(\d+)\]$/.exec(link)?.[1] ?? link;
}
