import type { Agent } from 'node:http';
import type { ConnectionOptions } from 'node:tls';

/** What a request needs to reach the API server and to authenticate. */
export interface Connection {
  /** Such as `https://10.96.0.1:443`; may end in a path where a proxy serves the API below one. */
  server: string;
  /** Headers that authenticate the caller. */
  headers: Record<string, string>;
  /** `servername`: the name that the server's certificate must have, where it is not the URL's. */
  tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>;
  /** Set where a proxy is used. */
  agent?: Agent;
}

/** Access to an API server. */
export interface Access {
  /** Where it was found, for messages. */
  readonly source: string;
  /** Context of the kubeconfig file, the same for as long as the process runs; undefined with a service account. */
  readonly context?: string | undefined;
  /**
   * Called before each request, because tokens, certificates and authorities change while the process runs.
   *
   * @throws CniGateError CNI_GATE_CLUSTER_CONFIG
   */
  connection(): Promise<Connection>;
  /** Drops cached credentials: the API server did not accept them. */
  refresh(): void;
}
