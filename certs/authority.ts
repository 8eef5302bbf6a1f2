import { CniGateError } from '../webhook/lib/errors.ts';
import { generateKey, type KeyPem } from './keys.ts';
import { periodFrom } from './period.ts';
import { longestCommonName, signCertificate } from './sign.ts';

/** A certificate authority. */
export interface Authority {
  /** Its own certificate, PEM: what clients are told to trust (`caBundle`, once in base64). */
  certificate: string;
  /** Its private RSA key, PEM. */
  key: string;
}

/** What {@link createAuthority} needs to be told. */
export interface AuthorityRequest {
  /** Its name, from 1 to 64 characters. */
  commonName: string;
  /** How many days it lasts, counted from now. */
  days: number;
  /** The time it is made at. */
  now: Date;
  /** Makes its key: {@link generateKey} where nothing is given. */
  keys?: () => Promise<KeyPem>;
}

/**
 * Makes an authority that signs its own certificate and those of servers, and no further authority. Its extensions
 * are those that RFC 5280 (4.2.1.2, 4.2.1.3, 4.2.1.9) asks of an authority.
 *
 * @throws CniGateError CNI_GATE_USAGE where the name or the days are out of range
 */
export async function createAuthority({
  commonName,
  days,
  now,
  keys = generateKey,
}: AuthorityRequest): Promise<Authority> {
  const length = [...commonName].length;
  if (length < 1 || length > longestCommonName) {
    throw new CniGateError(
      'CNI_GATE_USAGE',
      `The name of an authority has from 1 to ${longestCommonName} characters; ${JSON.stringify(commonName)} has ${length}.`,
    );
  }
  const period = periodFrom(now, days);
  const { privateKey, publicKey } = await keys();
  const extensions = [
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
  ];
  const certificate = await signCertificate({ commonName, publicKey, period, extensions }, privateKey);
  return { certificate, key: privateKey };
}
