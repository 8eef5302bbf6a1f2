import {
  chainsOf,
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

/** The rules as `iptables-restore` and `ip6tables-restore` read them. */
export function iptablesText(rules: Rule[]): string {
  return tables
    .map((table) => inTable(rules, table))
    .filter((own) => own.length > 0)
    .map(tableText)
    .join('');
}

function tableText(rules: Rule[]): string {
  const chains = chainsOf(rules).filter((chain) => !isHook(chain));
  const lines = rules.map((rule) =>
    ['-A', rule.chain, ...matchWords(rule.match), ...verdictWords(rule.then)].join(' '),
  );
  return [`*${rules[0]?.table}`, ...chains.map((chain) => `:${chain} - [0:0]`), ...lines, 'COMMIT', ''].join(
    '\n',
  );
}

/** An option and its value, with iptables' `!` before it where it is negated. */
function option<T>(name: string, value: Maybe<T> | undefined, show: (value: T) => string = String): string[] {
  if (value === undefined) return [];
  return [...(isNegated(value) ? ['!'] : []), name, show(plain(value))];
}

function matchWords(match: Match): string[] {
  const mark = (value: number): string => `${hex(value)}/${hex(markBits)}`;
  const words = [
    ...option('-i', match.in),
    ...option('-o', match.out),
    ...option('-s', match.source),
    ...option('-d', match.destination),
    ...option('-p', match.protocol),
  ];
  if (match.ports !== undefined) {
    words.push('-m', 'multiport', ...option('--dports', match.ports, (ports) => ports.join(',')));
  }
  if (match.uid !== undefined) words.push('-m', 'owner', ...option('--uid-owner', match.uid));
  if (match.gid !== undefined) words.push('-m', 'owner', ...option('--gid-owner', match.gid));
  if (match.mark !== undefined) words.push('-m', 'mark', ...option('--mark', match.mark, mark));
  if (match.connectionMark !== undefined) {
    words.push('-m', 'connmark', ...option('--mark', match.connectionMark, mark));
  }
  return words;
}

function verdictWords(verdict: Verdict): string[] {
  if (verdict === 'return' || verdict === 'accept') return ['-j', verdict.toUpperCase()];
  if (verdict === 'restore-mark') return ['-j', 'CONNMARK', '--restore-mark'];
  if ('jump' in verdict) return ['-j', verdict.jump];
  if ('redirect' in verdict) return ['-j', 'REDIRECT', '--to-ports', String(verdict.redirect)];
  return ['-j', 'CONNMARK', '--set-xmark', `${hex(verdict.markConnection)}/${hex(markBits)}`];
}

const hex = (value: number): string => `0x${value.toString(16)}`;
