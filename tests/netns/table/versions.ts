import { readFileSync } from 'node:fs';
import { availableParallelism, release } from 'node:os';
import { run } from '../../support/run.ts';
import type { Versions } from './render.ts';

/** The machine that generated the table. */
export async function versionsHere(): Promise<Versions> {
  const [nft, legacy, nftables, iproute] = await Promise.all([
    run('iptables-nft', ['--version']),
    run('iptables-legacy', ['--version']),
    run('nft', ['--version']),
    run('ip', ['-Version']),
  ]);
  const system = /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'unknown';
  return {
    Kernel: `Linux ${/^\d+\.\d+/.exec(release())?.[0]}, ${process.arch}, ${availableParallelism()} cores`,
    System: system,
    Node: process.version,
    iptables: `${nft.trim()}; ${legacy.trim()}`,
    nftables: nftables.trim(),
    iproute2: iproute.trim(),
  };
}
