import {
  type Authority,
  attribute,
  createAuthority,
  encodeCommonName,
  extension,
  generateKey,
  issueServing,
  oid,
  periodFrom,
  sequence,
  signCertificate,
} from '../../../certs/issue.ts';

const days = 2;
const commonName = 'test cluster';

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
    return new ClusterAuthority(createAuthority({ commonName, days, now: new Date() }));
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
    const organization = '55040a';
    const clientAuth = '2b06010505070302';
    const fields = {
      subject: sequence(...groups.map((group) => attribute(organization, group)), attribute('550403', user)),
      issuer: encodeCommonName(commonName),
      publicKey,
      period: periodFrom(new Date(), days),
      extensions: [extension('551d25', sequence(oid(clientAuth)))],
    };
    return { certificate: signCertificate(fields, this.#authority.key), key: privateKey };
  }
}
