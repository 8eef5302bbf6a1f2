/**
 * Whether a certificate should be replaced: from two thirds of its life on, so that a third is left in which a
 * renewal that fails can be tried again. cert-manager renews by the same default.
 *
 * @param notBefore the first moment at which the certificate is in force
 * @param notAfter the last one
 * @param now the time to judge by
 */
export function renewalDue(notBefore: Date, notAfter: Date, now: Date): boolean {
  // In whole milliseconds, multiplied instead of divided: no rounding at the boundary.
  const life = notAfter.getTime() - notBefore.getTime();
  const age = now.getTime() - notBefore.getTime();
  return age * 3 >= life * 2;
}
