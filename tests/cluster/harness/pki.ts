import { X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import {
  type Authority,
  createAuthority,
  generateKey,
  issuerFields,
  issueServing,
  periodFrom,
  signCertificate,
} from '../../../certs/issue.ts';

const { pki } = forge;
const days = 2;

/** A certificate and its private key, PEM. */
export interface Pair {
  certificate: string;
  key: string;
}

/** The one authority of a cluster: for its servers, and for the users whom it lets in. */
export class ClusterAuthority {
  readonly #authority: Authority;

  constructor(authority: Authority) {
    this.#authority = authority;
  }

  static async create(): Promise<ClusterAuthority> {
    return new ClusterAuthority(createAuthority({ commonName: 'test cluster', days, now: new Date() }));
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
    const { privateKey, publicKey } = generateKey();
    const attributes = [
      ...groups.map((value) => ({ type: pki.oids.organizationName as string, value })),
      { type: pki.oids.commonName as string, value: user },
    ];
    const fields = {
      subject: pki.distinguishedNameToAsn1({ attributes }),
      issuer: issuerFields(new X509Certificate(this.#authority.certificate).raw).name,
      publicKey,
      period: periodFrom(new Date(), days),
      extensions: [{ name: 'extKeyUsage', clientAuth: true }],
    };
    return { certificate: signCertificate(fields, this.#authority.key), key: privateKey };
  }
}
