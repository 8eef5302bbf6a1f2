import { createAuthority } from './issue.ts';
import type { Step } from './plan.ts';
import { type Previous, readAuthority, type SigningAuthority, type State } from './state.ts';

/** How authorities and serving certificates are issued. */
export interface IssueOptions {
  /** Days that an authority is valid. */
  authorityDays: number;
  /** Days that a serving certificate is valid. */
  leafDays: number;
  /** The time of issue. */
  now: Date;
}

/**
 * The state after a step, or undefined where the step changes nothing.
 *
 * @throws CniGateError CNI_GATE_USAGE where the days cannot be used
 */
export function applyStep(step: Step, options: IssueOptions): State | undefined {
  switch (step.do) {
    case 'none':
    case 'wait':
      return undefined;
    case 'create':
      return { authority: newAuthority(options.authorityDays, options.now) };
    case 'begin':
      return { ...step.state, next: newAuthority(options.authorityDays, options.now) };
    case 'promote':
      return promote(step.state, options);
    case 'drop':
      return { ...step.state, previous: undefined };
    case 'restore': {
      // until now a replica may have signed by an authority that the older copy of the Secret had and this state retired
      const { previous } = step.state;
      return { ...step.state, previous: previous && trustLonger(previous, options) };
    }
    case 'rewrite':
      return step.state;
  }
}

/** The next authority signs from now on; the one that did keeps its certificate and loses its key. */
function promote({ authority, next, previous }: State, options: IssueOptions): State {
  if (!next) throw new Error('there is no next authority');
  const { key: _, ...trusted } = authority;
  const retired = {
    authorities: [trusted, ...(previous?.authorities ?? [])],
    until: previous?.until ?? options.now,
  };
  return { authority: next, previous: trustLonger(retired, options) };
}

const dayMs = 24 * 60 * 60_000;

/**
 * Authorities that do not sign from now on are trusted until what they signed has expired: a replica that is cut off
 * from the API server goes on serving. That is one life of a serving certificate from their last signature, which is
 * as old as the last reading of the Secret that had their key. The second life is for the time from `now` until this
 * is written.
 */
function trustLonger(previous: Previous, { now, leafDays }: IssueOptions): Previous {
  const end = Math.max(now.getTime() + 2 * leafDays * dayMs, previous.until.getTime());
  const last = Math.max(...previous.authorities.map(({ notAfter }) => notAfter.getTime()));
  return { ...previous, until: new Date(Math.min(end, last)) };
}

/** @throws CniGateError CNI_GATE_USAGE where the days cannot be used */
export function newAuthority(days: number, now: Date): SigningAuthority {
  const { certificate, key } = createAuthority({ days, now });
  return readAuthority(certificate, key);
}
