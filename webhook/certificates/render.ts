import { clean } from '../lib/clean.ts';
import { isWell, type Shown, type ShownCertificate } from './show.ts';

const phases: Record<Shown['phase'], string> = {
  none: 'there is no authority',
  settled: 'settled',
  waiting:
    'rotating: the next authority is put into every caBundle, and is used once all had time to learn of it',
  switched: 'rotated: the previous authority signs no more and is still trusted',
};

/** What `certs show` prints for people. */
export function render(shown: Shown, where: string): string {
  const { secret, phase, leaf, authority, next, previous, configurations, faults } = shown;
  const lines = [
    `Secret ${where}${secret.present ? '' : ': does not exist'}`,
    row('phase', phases[phase]),
    ...(leaf ? section('serving certificate', leaf) : []),
    ...(authority ? section('authority', authority) : []),
    ...(next ? section('next authority', next) : []),
    ...(previous?.certificates.flatMap((each) => [
      ...section('previous authority', each),
      row('trusted until', previous.until),
    ]) ?? []),
    '',
    configurations.length > 0 ? 'caBundles' : 'No webhook configuration calls the Service.',
    ...configurations.map(({ name, caBundle }) => `  ${name}: ${caBundle}`),
    ...(faults.length > 0 ? ['', 'Faults'] : []),
    ...faults.map(({ code, message }) => `  ${message} (${code})`),
    '',
    isWell(shown) ? 'All is well.' : 'Something is wrong: see above.',
  ];
  return lines.map((line) => `${clean(line)}\n`).join('');
}

function section(
  title: string,
  { subject, issuer, fingerprint, notBefore, notAfter, names }: ShownCertificate,
): string[] {
  return [
    '',
    title,
    row('subject', subject),
    ...(names ? [row('names', names.join(', '))] : []),
    row('issuer', issuer),
    row('SHA-256', fingerprint),
    row('in force', `${notBefore} to ${notAfter}`),
  ];
}

function row(title: string, text: string): string {
  return `  ${title.padEnd(14)} ${text}`;
}
