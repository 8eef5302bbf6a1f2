import { CniGateError } from '../webhook/lib/errors.ts';
import { newAuthority } from './apply.ts';
import { faultsIn } from './plan.ts';
import { Conflict, type SharedObjects } from './shared.ts';
import { readSecret, type State, secretData, wholeState } from './state.ts';

/** What a person can ask for: to begin a rotation of the authority, or to end one early. */
export type ManualStep = 'rotate' | 'finish';

/** How often it is tried again where a replica was faster. */
const tries = 5;

/**
 * Does what the replicas would do by the calendar. They continue from there.
 *
 * @param authorityDays validity of a new authority
 * @throws CniGateError CNI_GATE_TLS_SECRET where the Secret does not allow the step
 */
export async function runManualStep(
  wanted: ManualStep,
  shared: SharedObjects,
  authorityDays: number,
): Promise<void> {
  for (let left = tries; left > 0; left--) {
    try {
      await attempt(wanted, shared, authorityDays);
      return;
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }
  throw refused('somebody else keeps changing the Secret; try again');
}

async function attempt(wanted: ManualStep, shared: SharedObjects, authorityDays: number): Promise<void> {
  const secret = await shared.secret();
  if (!secret)
    throw refused('there is no Secret yet: the first replica of `cni-gate serve --tls-secret` creates it');
  const now = shared.now();
  const reading = readSecret(secret.data);
  const [fault] = faultsIn(reading, now);
  const state = wholeState(reading);
  if (fault || !state) throw refused(`${fault?.message}. The replicas repair this; see their logs`);
  if (state.next) throw refused('a rotation is in progress: wait until the next authority signs');
  if (wanted === 'finish' && !state.previous) throw refused('there is no previous authority to drop');
  const next: State =
    wanted === 'rotate'
      ? { ...state, next: newAuthority(authorityDays, now) }
      : { ...state, previous: undefined };
  await shared.write(secretData(next), secret);
}

function refused(message: string): CniGateError {
  return new CniGateError('CNI_GATE_TLS_SECRET', message);
}
