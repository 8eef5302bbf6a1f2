import type { Fault } from './fault.ts';
import {
  type CertificateFacts,
  isSignedBy,
  type ReadAuthority,
  type ReadLeaf,
  readAuthorityPart,
  readFault,
  readLeafPart,
  readTrusted,
} from './parts.ts';
import { type SecretData, secretKeys } from './secret.ts';
import { bundleOf, type ManagedState } from './state.ts';

/** A state whose parts were read, so that plans need not decode anything. */
export interface ReadState extends ManagedState {
  authority: ReadAuthority;
  next?: ReadAuthority | undefined;
  previous?: ReadPrevious | undefined;
  leaf: ReadLeaf;
}

export interface ReadPrevious {
  certificates: string[];
  facts: CertificateFacts[];
  until: Date;
}

/** What was found in the Secret: the parts that can be used, and what is wrong with the others. */
export type Reading = { [Part in keyof ReadState]?: ReadState[Part] | undefined } & { faults: Fault[] };

/**
 * Reads the Secret's data. No clock: whether something is in force is for the plan, so a reading holds for as long
 * as the Secret stays the same.
 */
export function readSecret(data: SecretData): Reading {
  const faults: Fault[] = [];
  if (Object.values(data).every((text) => text.trim() === '')) {
    return { faults: [fault('secret', 'empty', 'the Secret is empty')] };
  }
  const text = (key: keyof typeof secretKeys): string => data[secretKeys[key]] ?? '';
  const attempt = <Part>(part: Fault['part'], read: () => Part): Part | undefined => {
    try {
      return read();
    } catch (error) {
      faults.push(readFault(part, error));
      return undefined;
    }
  };
  const authority = attempt('authority', () =>
    readAuthorityPart(text('authorityCertificate'), text('authorityKey')),
  );
  const next =
    text('nextCertificate') === '' && text('nextKey') === ''
      ? undefined
      : attempt('next', () => readAuthorityPart(text('nextCertificate'), text('nextKey')));
  const previous =
    text('previousCertificates') === '' && text('previousUntil') === ''
      ? undefined
      : attempt('previous', () => readPrevious(text('previousCertificates'), text('previousUntil'), faults));
  const leaf = attempt('leaf', () => readLeafPart(text('leafCertificate'), text('leafKey')));
  const reading = { authority, next, previous, leaf };
  const own = leaf && authority && !isSignedBy(leaf.certificate, authority.certificate) ? undefined : leaf;
  if (leaf && !own) {
    const seen = `it is for ${leaf.facts.names.join(', ')} and signed by ${leaf.facts.issuer}`;
    const message = `the leaf is not signed by the authority beside it: ${seen}`;
    faults.push({ part: 'leaf', reason: 'foreign', code: 'CNI_GATE_TLS_PAIR', message });
  }
  if (authority && text('bundle') !== bundleOf({ ...reading, authority })) {
    faults.push(
      fault('bundle', 'inconsistent', `${secretKeys.bundle} does not hold the authorities of the Secret`),
    );
  }
  return { ...reading, leaf: own, faults };
}

/** The state in a reading where nothing is wrong with it but what a clock would tell. */
export function wholeState(reading: Reading): ReadState | undefined {
  const { authority, next, previous, leaf, faults } = reading;
  return authority && leaf && faults.length === 0 ? { authority, next, previous, leaf } : undefined;
}

function readPrevious(certificates: string, until: string, faults: Fault[]): ReadPrevious | undefined {
  const trusted = readTrusted(certificates);
  const end = new Date(until);
  if (trusted.length === 0 || Number.isNaN(end.getTime())) {
    const message = `the previous authorities need a certificate and a time until which they are trusted; seen was ${JSON.stringify(until)}`;
    faults.push(fault('previous', 'unreadable', message));
    return undefined;
  }
  return {
    certificates: trusted.map(({ certificate }) => certificate),
    facts: trusted.map(({ facts }) => facts),
    until: end,
  };
}

function fault(part: Fault['part'], reason: Fault['reason'], message: string): Fault {
  return { part, reason, code: 'CNI_GATE_TLS_SECRET', message };
}
