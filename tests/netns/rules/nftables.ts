import type { Family } from '../harness/addresses.ts';
import {
  chainsOf,
  hooks,
  inTable,
  isHook,
  isNegated,
  type Match,
  type Maybe,
  markBits,
  plain,
  type Rule,
  tables,
  type Verdict,
} from './model.ts';

/** The kernel's chains as iptables has them: where they hook in, and what kind they are. */
const hooked = {
  nat: {
    PREROUTING: 'type nat hook prerouting priority dstnat;',
    OUTPUT: 'type nat hook output priority -100;',
  },
  mangle: {
    PREROUTING: 'type filter hook prerouting priority mangle;',
    OUTPUT: 'type route hook output priority mangle;',
  },
} as const;

/** The same rules as native nftables, for `nft -f -`: one nftables table of one address family for each table. */
export function nftablesText(rules: Rule[], family: Family): string {
  return tables
    .map((table) => ({ table, own: inTable(rules, table) }))
    .filter(({ own }) => own.length > 0)
    .map(({ table, own }) => tableText(table, own, family))
    .join('');
}

function tableText(table: Rule['table'], rules: Rule[], family: Family): string {
  // a chain must exist before a rule jumps to it
  const named = chainsOf(rules).filter((chain) => !isHook(chain));
  const used = [...named, ...hooks.filter((hook) => rules.some((rule) => rule.chain === hook))];
  const chains = used.map((chain) => {
    const own = rules.filter((rule) => rule.chain === chain);
    const base = isHook(chain) ? [hooked[table][chain as (typeof hooks)[number]]] : [];
    const lines = own.map((rule) => [...matchWords(rule.match, family), verdictWords(rule.then)].join(' '));
    return `  chain ${chain} {\n${[...base, ...lines].map((line) => `    ${line}\n`).join('')}  }\n`;
  });
  return `table ${ip(family)} mesh_${table} {\n${chains.join('')}}\n`;
}

const ip = (family: Family): string => (family === 'ipv4' ? 'ip' : 'ip6');

function compare<T>(
  left: string,
  value: Maybe<T> | undefined,
  show: (value: T) => string = String,
): string[] {
  if (value === undefined) return [];
  return [`${left} ${isNegated(value) ? '!=' : '=='} ${show(plain(value))}`];
}

function matchWords(match: Match, family: Family): string[] {
  const quoted = (name: string): string => `"${name}"`;
  return [
    ...compare('iifname', match.in, quoted),
    ...compare('oifname', match.out, quoted),
    ...compare(`${ip(family)} saddr`, match.source),
    ...compare(`${ip(family)} daddr`, match.destination),
    ...compare('meta l4proto', match.protocol),
    ...compare(`${match.protocol} dport`, match.ports, (ports) => `{ ${ports.join(', ')} }`),
    ...compare('meta skuid', match.uid),
    ...compare('meta skgid', match.gid),
    ...compare(`meta mark & ${markBits}`, match.mark),
    ...compare(`ct mark & ${markBits}`, match.connectionMark),
  ];
}

function verdictWords(verdict: Verdict): string {
  if (verdict === 'return' || verdict === 'accept') return verdict;
  if (verdict === 'restore-mark') return 'meta mark set ct mark';
  if ('jump' in verdict) return `jump ${verdict.jump}`;
  if ('redirect' in verdict) return `redirect to :${verdict.redirect}`;
  const others = 0xffff_ffff - markBits;
  return `ct mark set ct mark & ${others} | ${verdict.markConnection}`;
}
