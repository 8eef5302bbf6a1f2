import { createAuthority } from '../authority.ts';
import type { KeyPem } from '../keys.ts';
import { issueServing } from '../serving.ts';
import { type ReadAuthority, type ReadLeaf, readAuthorityPart, readLeafPart } from './parts.ts';
import type { Step, Unserved } from './plan.ts';
import type { ReadPrevious, ReadState } from './reading.ts';

/** How to make what a step asks for. */
export interface Making {
  /** Days that an authority lasts. */
  authorityDays: number;
  /** Days that a serving certificate lasts. */
  leafDays: number;
  /** What serving certificates are for. */
  names: readonly string[];
  now: Date;
  /** As in {@link createAuthority}. */
  keys?: () => Promise<KeyPem>;
}

/** The name of every authority that cni-gate makes. */
export const authorityName = 'cni-gate';

/**
 * The state after a step, or undefined where the step changes nothing.
 *
 * @throws CniGateError CNI_GATE_USAGE where names or days cannot be used
 */
export async function carryOut(step: Step, making: Making): Promise<ReadState | undefined> {
  switch (step.do) {
    case 'none':
    case 'wait':
      return undefined;
    case 'restore':
      return step.state;
    case 'create': {
      const authority = await makeAuthority(making);
      return { authority, leaf: await makeLeaf(authority, making) };
    }
    case 'issue':
      return { ...step.state, leaf: await makeLeaf(step.state.authority, making, step.state.leaf) };
    case 'begin':
      return withLeaf({ ...step.state, next: await makeAuthority(making) }, making);
    case 'promote':
      return promote(step.state, making);
    case 'drop':
      return withLeaf({ ...step.state, previous: undefined }, making);
    case 'rewrite':
      return withLeaf(step.state, making);
  }
}

async function withLeaf(state: Unserved, making: Making): Promise<ReadState> {
  return { ...state, leaf: state.leaf ?? (await makeLeaf(state.authority, making)) };
}

/** The next authority signs from now on; the one that did keeps its certificate and loses its key. */
async function promote({ authority, next, previous, leaf }: Unserved, making: Making): Promise<ReadState> {
  if (!next) throw new Error('there is no next authority');
  return {
    authority: next,
    previous: retire(authority, previous, leaf, making),
    leaf: await makeLeaf(next, making),
  };
}

/**
 * A replica that is cut off from the API server goes on serving what it has. So an authority is trusted until the
 * last certificate that it can have signed has expired: the one that is served, or one as long as ours that
 * another replica issued and nobody read.
 */
function retire(
  authority: ReadAuthority,
  previous: ReadPrevious | undefined,
  leaf: ReadLeaf | undefined,
  { now, leafDays }: Making,
): ReadPrevious {
  const ends = [
    now.getTime() + leafDays * 24 * 60 * 60_000,
    leaf?.facts.notAfter.getTime() ?? 0,
    previous?.until.getTime() ?? 0,
  ];
  const last = Math.min(Math.max(...ends), authority.facts.notAfter.getTime());
  return {
    certificates: [authority.certificate, ...(previous?.certificates ?? [])],
    facts: [authority.facts, ...(previous?.facts ?? [])],
    until: new Date(last),
  };
}

async function makeAuthority({ authorityDays: days, now, keys }: Making): Promise<ReadAuthority> {
  const made = await createAuthority({ commonName: authorityName, days, now, ...(keys && { keys }) });
  return readAuthorityPart(made.certificate, made.key);
}

/** @param before a leaf whose names are taken over */
async function makeLeaf(authority: ReadAuthority, making: Making, before?: ReadLeaf): Promise<ReadLeaf> {
  const { leafDays: days, now, keys } = making;
  const names = [...making.names, ...(before?.facts.names ?? [])];
  const made = await issueServing(authority, { names, days, now, ...(keys && { keys }) });
  return readLeafPart(made.certificate, made.key);
}
