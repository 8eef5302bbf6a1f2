import { carryOut, type Making } from '../../certs/managed/carry-out.ts';
import { faultsIn, type Step } from '../../certs/managed/plan.ts';
import { type ReadState, readSecret } from '../../certs/managed/reading.ts';
import { secretData } from '../../certs/managed/secret.ts';
import { CniGateError } from '../lib/errors.ts';
import { ChangedSince, type Shared } from './shared.ts';

/** What can be asked for by hand. */
export type Wish = 'issue' | 'rotate' | 'finish';

/** How often it is tried again where a replica was faster. */
const tries = 5;

/**
 * Does by hand what the replicas would do by the calendar: issue a certificate, begin a rotation of the authority,
 * or end one by trusting the previous authority no longer. The replicas go on from there.
 *
 * @returns the state that was written
 * @throws CniGateError CNI_GATE_TLS_SECRET where the Secret is not in a state to do that in
 */
export async function doByHand(wish: Wish, shared: Shared, making: Omit<Making, 'now'>): Promise<ReadState> {
  for (let left = tries; ; left--) {
    try {
      return await attempt(wish, shared, making);
    } catch (error) {
      if (!(error instanceof ChangedSince)) throw error;
      if (left > 1) continue;
      throw refused('the Secret is changed all the time by somebody else; try again');
    }
  }
}

async function attempt(wish: Wish, shared: Shared, making: Omit<Making, 'now'>): Promise<ReadState> {
  const secret = await shared.secret();
  if (!secret)
    throw refused('there is no Secret yet: the first replica of `cni-gate serve --tls-secret` makes it');
  const reading = readSecret(secret.data);
  const now = shared.now();
  const [fault] = faultsIn(reading, now, []);
  if (fault) throw refused(`${fault.message}. The replicas mend this by themselves; look at their logs`);
  const state = reading as ReadState;
  const next = await carryOut(stepFor(wish, state), { ...making, now });
  if (!next) throw refused('nothing to do');
  await shared.write(secretData(next), secret);
  return next;
}

function stepFor(wish: Wish, state: ReadState): Step {
  const { authority, next, previous } = state;
  switch (wish) {
    case 'issue':
      return { do: 'issue', state: { authority, next, previous } };
    case 'rotate':
      if (next)
        throw refused('a rotation is under way already: the next authority waits to be trusted everywhere');
      return { do: 'begin', state };
    case 'finish':
      if (next)
        throw refused('a rotation is under way: an authority before it can be forgotten once it has ended');
      if (!previous) throw refused('there is no previous authority to be forgotten');
      return { do: 'drop', state };
  }
}

function refused(message: string): CniGateError {
  return new CniGateError('CNI_GATE_TLS_SECRET', message);
}
