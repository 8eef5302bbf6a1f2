import type { InstallationFacts, Registered } from '../facts/installation.ts';
import { foundIn, unknownIn } from '../facts/observation.ts';
import type { ProbeFacts } from '../facts/probe.ts';
import { type Finding, failed, judged, passed, skipped } from './finding.ts';

/**
 * Whether the API server accepts the certificate that the replicas serve, webhook by webhook. A caller who may not read
 * the Secret does not know: the API does not show what is really served.
 */
export function checkCertificate(
  { certificate }: InstallationFacts,
  registered: Registered,
  probe: ProbeFacts | undefined,
): Finding {
  const isProved = probe?.outcome === 'injected' && hasOneBundle(registered);
  if (foundIn(certificate) === undefined && isProved)
    return passed('the API server accepted it when it made the probe');
  const unknown = unknownIn(certificate);
  if (unknown?.forbidden === false) return skipped(`Certificate: ${unknown.why}`);
  return judged(
    certificate,
    (found) => {
      const faults = found?.webhooks.filter(({ fault }) => fault !== undefined) ?? [];
      const [first] = faults;
      if (first === undefined)
        return passed(`every caBundle trusts the certificate in Secret ${found?.secret}`);
      const names = faults.filter(({ fault }) => fault === first.fault).map(({ name }) => name);
      return failed(
        'CNI_GATE_CA_BUNDLE',
        `Secret ${found?.secret}: the API server does not accept its certificate for ${names.join(', ')}: ${first.fault}`,
        'Run "cni-gate certs show", or check what writes your certificate and caBundle',
      );
    },
    false,
    'Certificate',
  );
}

function hasOneBundle({ mutating, validating }: Registered): boolean {
  const bundles = [...(mutating ?? []), ...(validating ?? [])].map(
    ({ clientConfig: { caBundle } }) => caBundle,
  );
  return mutating !== undefined && validating !== undefined && new Set(bundles).size === 1;
}
