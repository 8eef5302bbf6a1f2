import { clean } from '../webhook/lib/clean.ts';
import { faultsIn } from './plan.ts';
import type { SharedObjects } from './shared.ts';
import { bundleOf, readSecret, type TrustedAuthority } from './state.ts';
import { bundleFault } from './trust.ts';

/** An authority, as `certs show` prints it. */
export interface ShownAuthority {
  fingerprint: string;
  notBefore: string;
  notAfter: string;
}

/** What `certs show --output json` prints. */
export interface Shown {
  secret: { present: boolean; labelled: boolean };
  /** `settled`, `waiting` (the next authority is not used yet), `switched` (the previous one is still trusted). */
  phase: 'none' | 'settled' | 'waiting' | 'switched';
  authority?: ShownAuthority;
  next?: ShownAuthority;
  previous?: { authorities: ShownAuthority[]; until: string };
  configurations: { name: string; caBundle: string }[];
  /** What is wrong; empty where all is well. */
  faults: { code: string; reason: string; message: string }[];
}

const phases: Record<Shown['phase'], string> = {
  none: 'there is no authority',
  settled: 'settled',
  waiting: 'rotating: the next authority is in the caBundles, and signs after the overlap',
  switched: 'rotated: the previous authority no longer signs and is still trusted',
};

/**
 * What is in the Secret and the caBundles, without any key.
 *
 * @throws CniGateError where the Secret may not be read
 */
export async function show(shared: SharedObjects): Promise<Shown> {
  const found = await shared.configurations();
  const secret = await shared.secret();
  const reading = secret && readSecret(secret.data);
  const { authority, next, previous } = reading ?? {};
  const expected = authority ? bundleOf({ authority, next, previous }) : '';
  const configurations = [
    ...found.configurations.map(({ name, bundles }) => ({
      name,
      caBundle: bundles.map((bundle) => bundleFault(bundle, expected)).find(Boolean) ?? 'complete',
    })),
    ...[...found.absent.keys()].map((name) => ({ name, caBundle: 'absent' })),
    ...[...found.failed].map(([name, { message }]) => ({ name, caBundle: message })),
  ].toSorted((one, other) => one.name.localeCompare(other.name));
  return {
    secret: { present: secret !== undefined, labelled: secret?.labelled ?? false },
    phase: !authority ? 'none' : next ? 'waiting' : previous ? 'switched' : 'settled',
    ...(authority && { authority: shown(authority) }),
    ...(next && { next: shown(next) }),
    ...(previous && {
      previous: { authorities: previous.authorities.map(shown), until: previous.until.toISOString() },
    }),
    configurations,
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
    ...(previous?.authorities.flatMap((each) => [
      ...section('previous authority', each),
      row('trusted until', previous.until),
    ]) ?? []),
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

function shown({ fingerprint, notBefore, notAfter }: TrustedAuthority): ShownAuthority {
  return { fingerprint, notBefore: notBefore.toISOString(), notAfter: notAfter.toISOString() };
}

function section(title: string, { fingerprint, notBefore, notAfter }: ShownAuthority): string[] {
  return ['', title, row('SHA-256', fingerprint), row('valid', `${notBefore} to ${notAfter}`)];
}

function row(title: string, text: string): string {
  return `  ${title.padEnd(14)} ${text}`;
}
