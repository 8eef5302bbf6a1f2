import type { CertificateFacts } from '../../certs/managed/parts.ts';
import { faultsIn } from '../../certs/managed/plan.ts';
import { readSecret } from '../../certs/managed/reading.ts';
import { bundleOf } from '../../certs/managed/state.ts';
import { bundleFault } from '../../certs/managed/trust.ts';
import type { Shared } from './shared.ts';

/** A certificate, as `certs show` tells of it. */
export interface ShownCertificate {
  subject: string;
  issuer: string;
  fingerprint: string;
  notBefore: string;
  notAfter: string;
  names?: string[];
}

/** What `certs show --output json` prints. */
export interface Shown {
  secret: { present: boolean; labelled: boolean };
  /** `settled`, `waiting` (the next authority is not used yet), `switched` (the previous one is still trusted). */
  phase: 'none' | 'settled' | 'waiting' | 'switched';
  leaf?: ShownCertificate;
  authority?: ShownCertificate;
  next?: ShownCertificate;
  previous?: { certificates: ShownCertificate[]; until: string };
  configurations: { name: string; caBundle: string }[];
  /** What is wrong; empty where all is well. */
  faults: { code: string; reason: string; message: string }[];
}

/**
 * What there is, without any key.
 *
 * @throws CniGateError where the Secret may not be read
 */
export async function show(shared: Shared): Promise<Shown> {
  const seen = await shared.configurations();
  const secret = await shared.secret();
  const reading = secret && readSecret(secret.data);
  const faults = faultsIn(reading, shared.now(), []);
  const { authority, next, previous, leaf } = reading ?? {};
  const wanted = authority && bundleOf({ authority, next, previous });
  const configurations = [
    ...seen.configurations.map(({ name, bundles }) => ({
      name,
      caBundle: bundles.map((bundle) => bundleFault(bundle, wanted ?? '')).find(Boolean) ?? 'complete',
    })),
    ...[...seen.absent.keys()].map((name) => ({ name, caBundle: 'absent' })),
    ...[...seen.failed].map(([name, { message }]) => ({ name, caBundle: message })),
  ].toSorted((one, other) => one.name.localeCompare(other.name));
  return {
    secret: { present: secret !== undefined, labelled: secret?.labelled ?? false },
    phase: !authority ? 'none' : next ? 'waiting' : previous ? 'switched' : 'settled',
    ...(leaf && { leaf: { ...certificate(leaf.facts), names: leaf.facts.names } }),
    ...(authority && { authority: certificate(authority.facts) }),
    ...(next && { next: certificate(next.facts) }),
    ...(previous && {
      previous: { certificates: previous.facts.map(certificate), until: previous.until.toISOString() },
    }),
    configurations,
    faults: faults.map(({ code, reason, message }) => ({ code, reason, message })),
  };
}

/** Whether all is as it should be. */
export function isWell({ configurations, faults }: Shown): boolean {
  const called = configurations.length > 0 && configurations.every(({ caBundle }) => caBundle === 'complete');
  return faults.length === 0 && called;
}

function certificate({
  subject,
  issuer,
  fingerprint,
  notBefore,
  notAfter,
}: CertificateFacts): ShownCertificate {
  return {
    subject,
    issuer,
    fingerprint,
    notBefore: notBefore.toISOString(),
    notAfter: notAfter.toISOString(),
  };
}
