import { bundleOf, type ManagedState } from './state.ts';

/**
 * The keys of the Secret. The first three are those of the type `kubernetes.io/tls` and of cert-manager, so that
 * tools which know these can read it; the others are ours.
 */
export const secretKeys = {
  leafCertificate: 'tls.crt',
  leafKey: 'tls.key',
  bundle: 'ca.crt',
  authorityCertificate: 'authority.crt',
  authorityKey: 'authority.key',
  nextCertificate: 'next.crt',
  nextKey: 'next.key',
  previousCertificates: 'previous.crt',
  previousUntil: 'previous-until',
} as const;

/** The type of the Secret: the API server holds it to have `tls.crt` and `tls.key`. It can't be changed later. */
export const secretType = 'kubernetes.io/tls';

/** The data of a Secret as text, before it becomes base64. */
export type SecretData = Readonly<Record<string, string>>;

/** What to write into the Secret for a state. Keys that are not in it have to go. */
export function secretData(state: ManagedState): SecretData {
  const { authority, next, previous, leaf } = state;
  return {
    [secretKeys.leafCertificate]: leaf.certificate,
    [secretKeys.leafKey]: leaf.key,
    [secretKeys.bundle]: bundleOf(state),
    [secretKeys.authorityCertificate]: authority.certificate,
    [secretKeys.authorityKey]: authority.key,
    ...(next && { [secretKeys.nextCertificate]: next.certificate, [secretKeys.nextKey]: next.key }),
    ...(previous && {
      [secretKeys.previousCertificates]: previous.certificates.join(''),
      [secretKeys.previousUntil]: previous.until.toISOString(),
    }),
  };
}
