import { type Families, type Family, familiesOf } from '../harness/addresses.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { iptablesText } from './iptables.ts';
import type { RuleSet } from './model.ts';
import { nftablesText } from './nftables.ts';

/** The rule backends of the meshes' plugins. */
export const backends = ['iptables-nft', 'iptables-legacy', 'nftables'] as const;
export type Backend = (typeof backends)[number];

export function restoreCommand(backend: Exclude<Backend, 'nftables'>, family: Family): string {
  const [program, kind] = backend.split('-');
  return `${family === 'ipv4' ? program : program?.replace('ip', 'ip6')}-${kind}-restore`;
}

/** A command that writes rules of one family, and what to give it to read. */
export function writeCommand(
  ruleSet: RuleSet,
  backend: Backend,
  family: Family,
): { command: string; args: string[]; input: string } {
  const rules = ruleSet.rules(family);
  return backend === 'nftables'
    ? { command: 'nft', args: ['-f', '-'], input: nftablesText(rules, family) }
    : { command: restoreCommand(backend, family), args: ['--noflush'], input: iptablesText(rules) };
}

/** Writes a mesh's rules into the pod, as its plugin does. */
export async function writeRules(
  sandbox: Sandbox,
  ruleSet: RuleSet,
  options: { backend?: Backend; families?: Families } = {},
): Promise<void> {
  for (const family of familiesOf(options.families ?? sandbox.families)) {
    const { command, args, input } = writeCommand(ruleSet, options.backend ?? 'iptables-nft', family);
    await sandbox.exec('pod', command, args, input);
    const addresses = ruleSet.loopbackAddresses?.(family) ?? [];
    if (addresses.length > 0) {
      await sandbox.ip('pod', ...addresses.map((address) => `addr add ${address} dev lo`));
    }
  }
}

/** Removes every rule of iptables-nft and nftables, as a restarted firewall service does. */
export async function flushRules(sandbox: Sandbox): Promise<void> {
  await sandbox.exec('pod', 'nft', ['flush', 'ruleset']);
}
