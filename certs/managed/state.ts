import type { Authority } from '../authority.ts';

/**
 * Everything that the replicas agree on, as it lies in one Secret. Nothing else is remembered, so a replica that
 * starts at any point of a rotation goes on from there.
 */
export interface ManagedState {
  /** Signs serving certificates. */
  authority: Authority;
  /** Signs them next: trusted by now or soon, and not used until every API server had time to learn of it. */
  next?: Authority | undefined;
  /** Signed them before: its key is gone, its certificate is trusted until the last one that it signed has expired. */
  previous?: Previous | undefined;
  /** What is served, signed by `authority`. */
  leaf: Leaf;
}

/** Authorities that sign no more and are still trusted. */
export interface Previous {
  /** Their certificates, PEM. */
  certificates: string[];
  /** When the last certificate that they signed has expired. */
  until: Date;
}

/** A serving certificate and its key, PEM. */
export interface Leaf {
  certificate: string;
  key: string;
}

/**
 * What clients have to trust, the authority that signs now first: the text of `ca.crt` and of each `caBundle`
 * before it becomes base64.
 */
export function bundleOf({ authority, next, previous }: Omit<ManagedState, 'leaf'>): string {
  return [authority.certificate, next?.certificate, ...(previous?.certificates ?? [])]
    .filter((certificate) => certificate !== undefined)
    .map((certificate) => `${certificate.trimEnd()}\n`)
    .join('');
}
