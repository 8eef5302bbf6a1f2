import { type CertificateFacts, foundIn, type Observation, unknownIn } from './facts.ts';
import { inOrder, notKnown, type PartResult, wrong } from './part.ts';

/**
 * Whether the API server accepts the certificate that the replicas serve, webhook by webhook. Who may not read the
 * Secret does not know: over the API nobody sees what is really served.
 *
 * @param proved whether the probe was answered, and every webhook has the same caBundle
 */
export function judgeCertificate(certificate: Observation<CertificateFacts>, proved: boolean): PartResult {
  const found = foundIn(certificate);
  if (found === undefined) {
    const subject = { part: 'certificate', object: 'Certificate' } as const;
    if (proved) return inOrder(subject, 'the API server accepted it when it made the probe');
    const unknown = unknownIn(certificate);
    if (unknown !== undefined) return notKnown(subject, unknown, false);
    return notKnown(subject, { why: 'nothing tells where it is', forbidden: false }, false);
  }
  const subject = { part: 'certificate', object: `Secret ${found.secret}` } as const;
  const faults = found.webhooks.flatMap(({ name, fault }) => (fault === undefined ? [] : [{ name, fault }]));
  const [first] = faults;
  if (first === undefined) return inOrder(subject, 'every caBundle trusts its certificate');
  const names = faults.filter(({ fault }) => fault === first.fault).map(({ name }) => name);
  return wrong(
    subject,
    'CNI_GATE_CA_BUNDLE',
    `the API server does not accept its certificate for ${names.join(', ')}: ${first.fault}`,
    'Run "cni-gate certs show", or look at whoever writes your certificate and caBundle',
  );
}
