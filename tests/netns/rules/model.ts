import type { Family } from '../harness/addresses.ts';

/** A value that a packet must have, or must not have. */
export type Maybe<T> = T | { not: T };

/** The match of a rule. All given fields must match. */
export interface Match {
  protocol?: 'tcp' | 'udp';
  ports?: Maybe<number[]>;
  /** Interface that the packet came in by, or goes out by. */
  in?: string;
  out?: Maybe<string>;
  /** The owner of the sending socket. */
  uid?: Maybe<number>;
  gid?: Maybe<number>;
  source?: string;
  destination?: Maybe<string>;
  /** The packet's mark, or the connection's, in the bits 0xfff. */
  mark?: Maybe<number>;
  connectionMark?: number;
}

export type Verdict =
  | 'return'
  | 'accept'
  | { jump: string }
  | { redirect: number }
  /** Marks the connection, in the bits 0xfff. */
  | { markConnection: number }
  /** Gives the packet its connection's mark. */
  | 'restore-mark';

export interface Rule {
  table: 'nat' | 'mangle';
  /** PREROUTING or OUTPUT, or a chain of one's own. */
  chain: string;
  match: Match;
  then: Verdict;
}

/** The rules of a mesh's plugin in a pod's network namespace. */
export interface RuleSet {
  rules(family: Family): Rule[];
  /** Addresses that it gives to `lo`. */
  loopbackAddresses?(family: Family): string[];
}

/** The low twelve bits: the part of a mark that the meshes use. */
export const markBits = 0xfff;

export const isNegated = <T>(value: Maybe<T>): value is { not: T } =>
  typeof value === 'object' && value !== null && 'not' in value;

/** The value without its negation. */
export const plain = <T>(value: Maybe<T>): T => (isNegated(value) ? value.not : value);

/** Chains in the order in which the rules name them. */
export const chainsOf = (rules: Rule[]): string[] => [...new Set(rules.map((rule) => rule.chain))];

/** Rules of one table. */
export const inTable = (rules: Rule[], table: Rule['table']): Rule[] =>
  rules.filter((rule) => rule.table === table);

export const tables = ['mangle', 'nat'] as const;
/** The kernel's own chains that the meshes hook into. */
export const hooks = ['PREROUTING', 'OUTPUT'] as const;
export const isHook = (chain: string): boolean => (hooks as readonly string[]).includes(chain);
