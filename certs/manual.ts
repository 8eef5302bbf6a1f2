import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clean } from '../webhook/lib/clean.ts';
import { CniGateError, errnoOf, messageOf } from '../webhook/lib/errors.ts';
import { createAuthority, issueServing } from './issue.ts';
import { isConflict, type SharedObjects } from './objects.ts';
import { faultsIn, missing, newAuthority } from './rotation.ts';
import { bundleFault, bundleOf, readSecret, secretData, type TrustedAuthority, wholeState } from './state.ts';

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
  const reading = readSecret(secret.data);
  const [found] = faultsIn(reading, now);
  const state = wholeState(reading);
  if (found || !state) throw refused(`${found?.message}. The replicas repair this; see their logs`);
  if (state.next) throw refused('a rotation is in progress: wait until the next authority signs');
  if (wanted === 'finish' && !state.previous) throw refused('there is no previous authority to drop');
  const change = wanted === 'rotate' ? { next: newAuthority(authorityDays, now) } : { previous: undefined };
  try {
    await shared.write(secretData({ ...state, ...change }), secret);
  } catch (error) {
    throw isConflict(error) ? refused('a replica changed the Secret meanwhile; try again') : error;
  }
}

const refused = (message: string): CniGateError => new CniGateError('CNI_GATE_TLS_SECRET', message);

/**
 * Issues a serving certificate into files. It uses the authority of the folder, and creates one where there is none.
 *
 * @returns the paths that were written
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE, CNI_GATE_TLS_PAIR, CNI_GATE_USAGE
 */
export function issueIntoFiles(
  folder: string,
  { names, days, authorityDays, now }: { names: string[]; days: number; authorityDays: number; now: Date },
): string[] {
  const [certificate, key] = [join(folder, 'ca.crt'), join(folder, 'ca.key')];
  try {
    // half an authority is an error, and not replaced
    const isKnown = existsSync(certificate) || existsSync(key);
    const authority = isKnown
      ? { certificate: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') }
      : createAuthority({ days: authorityDays, now });
    const leaf = issueServing(authority, { names, days, now });
    const texts: [file: string, text: string][] = [
      [join(folder, 'tls.key'), leaf.key],
      [join(folder, 'tls.crt'), leaf.certificate],
    ];
    if (!isKnown) texts.unshift([key, authority.key], [certificate, authority.certificate]);
    mkdirSync(folder, { recursive: true });
    for (const [file, text] of texts)
      writeFileSync(file, text, { mode: file.endsWith('.key') ? 0o600 : 0o644 });
    return texts.map(([file]) => file);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    const message = `cannot use the folder ${folder}: ${messageOf(error)}`;
    throw new CniGateError('CNI_GATE_TLS_UNREADABLE', message, { cause: error });
  }
}

/** An authority, as `certs show` prints it. */
type ShownAuthority = ReturnType<typeof shown>;

/** What `certs show --output json` prints: see schemas/certs-show.json. */
export type Shown = Awaited<ReturnType<typeof show>>;

const phases = {
  none: 'there is no authority',
  settled: 'settled',
  waiting: 'rotating: the next authority is in the caBundles, and signs after the overlap',
  switched: 'rotated: the previous authority no longer signs and is still trusted',
};

/**
 * What is in the Secret and the caBundles, without any key.
 *
 * @throws CniGateError if the Secret may not be read
 */
export async function show(shared: SharedObjects) {
  const { found, faults } = await shared.configurations();
  const secret = await shared.secret();
  const reading = secret ? readSecret(secret.data) : { faults: [missing] };
  const { authority, next, previous } = reading;
  const expected = authority ? bundleOf({ authority, next, previous }) : '';
  const configurations = [
    ...found.map(({ name, bundles }) => ({
      name,
      caBundle: bundles.map((bundle) => bundleFault(bundle, expected)).find(Boolean) ?? 'complete',
    })),
    ...[...faults].map(([name, { message }]) => ({ name, caBundle: message })),
  ];
  const settled = previous ? 'switched' : 'settled';
  const phase: keyof typeof phases = !authority ? 'none' : next ? 'waiting' : settled;
  return {
    secret: { present: secret !== undefined, labelled: secret?.labelled ?? false },
    phase,
    ...(authority && { authority: shown(authority) }),
    ...(next && { next: shown(next) }),
    ...(previous && { previous: previous.map(shown) }),
    configurations: configurations.toSorted((one, other) => one.name.localeCompare(other.name)),
    faults: faultsIn(reading, shared.now()).map(({ code, reason, message }) => ({ code, reason, message })),
  };
}

/** Whether all is as it should be. */
export function isWell({ configurations, faults }: Shown): boolean {
  const called = configurations.length > 0 && configurations.every(({ caBundle }) => caBundle === 'complete');
  return faults.length === 0 && called;
}

/** What `certs show` prints for people. */
export function render(it: Shown, where: string): string {
  const { secret, phase, authority, next, previous, configurations, faults } = it;
  const lines = [
    `Secret ${where}${secret.present ? '' : ': does not exist'}`,
    row('phase', phases[phase]),
    ...(authority ? section('authority', authority) : []),
    ...(next ? section('next authority', next) : []),
    ...(previous ?? []).flatMap((each) => section('previous authority', each)),
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
  notBefore: notBefore.toISOString(),
  notAfter: notAfter.toISOString(),
});

const section = (title: string, { fingerprint, notBefore, notAfter }: ShownAuthority): string[] => [
  ...['', title, row('SHA-256', fingerprint), row('valid', `${notBefore} to ${notAfter}`)],
];

const row = (title: string, text: string): string => `  ${title.padEnd(14)} ${text}`;
