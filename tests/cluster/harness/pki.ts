import { type Authority, createAuthority, issueServing } from '../../../certs/issue.ts';
import { certify } from '../../support/openssl.ts';

const days = 2;

export interface Pair {
  certificate: string;
  key: string;
}

/** The only certificate authority of a cluster. It signs certificates of servers and of users. */
export class ClusterAuthority {
  readonly #authority: Authority;

  constructor(authority: Authority) {
    this.#authority = authority;
  }

  static async create(): Promise<ClusterAuthority> {
    return new ClusterAuthority(createAuthority({ days, now: new Date() }));
  }

  get pair(): Pair {
    return this.#authority;
  }

  async serving(names: string[]): Promise<Pair> {
    return issueServing(this.#authority, { names, days, now: new Date() });
  }

  /** A client certificate: its common name is the user's name, and its organizations are the user's groups. */
  async client(user: string, groups: readonly string[] = []): Promise<Pair> {
    const subject = [...groups.map((group) => `/O=${group}`), `/CN=${user}`].join('');
    return certify({ subject, extensions: ['extendedKeyUsage=clientAuth'], signer: this.#authority, days });
  }
}
