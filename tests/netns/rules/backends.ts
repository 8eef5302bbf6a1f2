import { type Families, type Family, familiesOf } from '../harness/addresses.ts';
import type { Sandbox } from '../harness/sandbox.ts';

export interface RuleSet {
  rules(family: Family): string;
  loopbackAddresses?(family: Family): string[];
}

/** The rule backends that the meshes' plugins use. */
export const backends = ['iptables-nft', 'iptables-legacy', 'nftables'] as const;
export type Backend = (typeof backends)[number];

/** The command that loads rules of one family. For nftables, it first translates the rules. */
export function writeCommand(
  ruleSet: RuleSet,
  backend: Backend,
  family: Family,
): { command: string; args: string[]; input: string } {
  const input = ruleSet.rules(family);
  const program = family === 'ipv4' ? 'iptables' : 'ip6tables';
  if (backend !== 'nftables')
    return { command: `${program}-${backend.replace('iptables-', '')}-restore`, args: ['--noflush'], input };
  // the translation ignores that "and" binds more strongly than "xor" in nftables, so both are swapped
  const inOrder = "sed -E 's/(xor \\S+) (and \\S+)$/\\2 \\1/'";
  return {
    command: 'sh',
    args: ['-c', `cat | ${program}-restore-translate -f /dev/stdin | ${inOrder} | nft -f -`],
    input,
  };
}

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
