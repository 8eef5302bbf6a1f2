import { clean } from '../webhook/lib/clean.ts';
import { CniGateError } from '../webhook/lib/errors.ts';
import { timeText } from '../webhook/lib/time-text.ts';
import { isConflict, type SharedObjects } from './objects.ts';
import {
  bundleFault,
  bundleOf,
  newAuthority,
  type Reading,
  readSecret,
  secretData,
  type TrustedAuthority,
} from './rotation.ts';

/** What a person can ask for: to begin a rotation of the authority, or to end one early. */
export type ManualStep = 'rotate' | 'finish';

/**
 * Does what the replicas would do by the calendar. They continue from there.
 *
 * @param authorityDays validity of a new authority
 * @throws CniGateError CNI_GATE_TLS_SECRET if the Secret does not allow the step
 */
export async function runManualStep(
  wanted: ManualStep,
  shared: SharedObjects,
  authorityDays: number,
): Promise<void> {
  const secret = await shared.secret();
  if (!secret)
    throw refused('there is no Secret yet: the first replica of `cni-gate serve --tls-secret` creates it');
  const now = shared.now();
  const { authority, next, previous, faults } = readSecret(secret.data, now);
  const [found] = faults;
  if (found || !authority) throw refused(`${found?.message}. The replicas repair this; see their logs`);
  if (next) throw refused('a rotation is in progress: wait until the next authority signs');
  if (wanted === 'finish' && !previous) throw refused('there is no previous authority to drop');
  const state =
    wanted === 'rotate' ? { authority, previous, next: newAuthority(authorityDays, now) } : { authority };
  try {
    await shared.write(secretData(state), secret);
  } catch (error) {
    throw isConflict(error) ? refused('a replica changed the Secret meanwhile; try again') : error;
  }
}

const refused = (message: string): CniGateError => new CniGateError('CNI_GATE_TLS_SECRET', message);

/** What `certs show --output json` prints: see schemas/certs-show.json. */
export type Shown = Awaited<ReturnType<typeof show>>;

const phases = {
  'not-managed': 'not managed by cni-gate: "cni-gate check" judges the certificate',
  none: 'there is no authority',
  settled: 'settled',
  waiting: 'rotating: the next authority is in the caBundles, and signs after the overlap',
  switched: 'rotated: the previous authority no longer signs and is still trusted',
};

/**
 * What is in the Secret and the caBundles, without any key.
 *
 * @param isManaged whether the authority in the Secret signs what the replicas serve
 * @throws CniGateError if the Secret may not be read
 */
export async function show(shared: SharedObjects, isManaged = true) {
  const { found, faults: unread } = await shared.configurations();
  const secret = await shared.secret();
  const reading: Reading = isManaged ? readSecret(secret?.data, shared.now()) : { faults: [] };
  const { faults, ...state } = reading;
  const { authority, next, previous } = state;
  const expected = bundleOf(state);
  const configurations = [
    ...found.map(({ name, bundles }) => ({
      name,
      caBundle:
        bundles.map((bundle) => bundleFault(bundle, isManaged ? expected : bundle)).find(Boolean) ??
        'complete',
    })),
    ...[...unread].map(([name, { message }]) => ({ name, caBundle: message })),
  ];
  const settled = previous ? 'switched' : 'settled';
  const missing = isManaged ? 'none' : 'not-managed';
  const phase: keyof typeof phases = !authority ? missing : next ? 'waiting' : settled;
  return {
    secret: { present: secret !== undefined, labelled: secret?.labelled ?? false },
    phase,
    ...(authority && { authority: shown(authority) }),
    ...(next && { next: shown(next) }),
    ...(previous && { previous: previous.map(shown) }),
    configurations: configurations.toSorted((one, other) => one.name.localeCompare(other.name)),
    faults: faults.map((fault) => ({ code: 'CNI_GATE_TLS_SECRET', ...fault })),
  };
}

/** Whether all is as it should be. */
export function isWell({ configurations, faults }: Shown): boolean {
  const called = configurations.length > 0 && configurations.every(({ caBundle }) => caBundle === 'complete');
  return faults.length === 0 && called;
}

/** What `certs show` prints for people. */
export function render(it: Shown, where: string): string {
  const { secret, phase, authority, next, previous = [], configurations, faults } = it;
  const lines = [
    `Secret ${where}${secret.present ? '' : ': does not exist'}`,
    row('phase', phases[phase]),
    ...section('authority', authority),
    ...section('next authority', next),
    ...previous.flatMap((each) => section('previous authority', each)),
    '',
    configurations.length > 0 ? 'caBundles' : 'No webhook configuration calls the Service.',
    ...configurations.map(({ name, caBundle }) => `  ${name}: ${caBundle}`),
    ...(faults.length > 0 ? ['', 'Faults'] : []),
    ...faults.map(({ code, message }) => `  ${message} (${code})`),
    '',
    isWell(it) ? 'All is well.' : 'Something is wrong: see above.',
  ];
  return lines.map((line) => `${clean(line)}\n`).join('');
}

const shown = ({ fingerprint, notBefore, notAfter }: TrustedAuthority) => ({
  fingerprint,
  notBefore: timeText(notBefore.getTime()),
  notAfter: timeText(notAfter.getTime()),
});

const section = (title: string, it: ReturnType<typeof shown> | undefined): string[] =>
  it ? ['', title, row('SHA-256', it.fingerprint), row('valid', `${it.notBefore} to ${it.notAfter}`)] : [];

const row = (title: string, text: string): string => `  ${title.padEnd(14)} ${text}`;
