import forge from 'node-forge';
import { type Authority, createAuthority } from '../../../certs/issue.ts';
import { generateKey } from '../../../certs/x509.ts';
import { type Period, periodFrom } from '../../../certs/period.ts';
import { issueServing } from '../../../certs/issue.ts';

const { md, pki } = forge;
const days = 2;

/** A certificate and its private key, PEM. */
export interface Pair {
  certificate: string;
  key: string;
}

/** The one authority of a cluster: for its servers, and for the users whom it lets in. */
export class ClusterAuthority {
  readonly #authority: Authority;

  private constructor(authority: Authority) {
    this.#authority = authority;
  }

  static async create(): Promise<ClusterAuthority> {
    return new ClusterAuthority(await createAuthority({ commonName: 'test cluster', days, now: new Date() }));
  }

  get pair(): Pair {
    return this.#authority;
  }

  /** A certificate for a server with these names and addresses. */
  async serving(names: string[]): Promise<Pair> {
    return issueServing(this.#authority, { names, days, now: new Date() });
  }

  /**
   * A certificate for a user: the common name is its name, organizations are its groups (kubernetes.io,
   * Authenticating: X509 client certificates).
   */
  async client(user: string, groups: readonly string[] = []): Promise<Pair> {
    const { privateKey, publicKey } = await generateKey();
    const subject = [
      ...groups.map((value) => ({ name: 'organizationName', value })),
      { name: 'commonName', value: user },
    ];
    return { certificate: this.#sign(publicKey, subject, periodFrom(new Date(), days)), key: privateKey };
  }

  #sign(publicKey: string, subject: forge.pki.CertificateField[], period: Period): string {
    const certificate = pki.createCertificate();
    certificate.serialNumber = `40${forge.util.bytesToHex(forge.random.getBytesSync(15))}`;
    certificate.publicKey = pki.publicKeyFromPem(publicKey);
    certificate.validity.notBefore = period.notBefore;
    certificate.validity.notAfter = period.notAfter;
    certificate.setSubject(subject);
    certificate.setIssuer(pki.certificateFromPem(this.#authority.certificate).subject.attributes);
    certificate.setExtensions([{ name: 'extKeyUsage', clientAuth: true }]);
    certificate.sign(pki.privateKeyFromPem(this.#authority.key), md.sha256.create());
    return pki.certificateToPem(certificate);
  }
}
