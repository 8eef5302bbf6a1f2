import type { ErrorCode } from '../../lib/errors.ts';
import { leaderLease } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import type { Fault, PartStatus } from '../model.ts';
import {
  type CertificateFacts,
  type DeploymentFacts,
  foundIn,
  type InstallationFacts,
  type LeaseFacts,
  type Observation,
  type ServiceFacts,
  type Unknown,
  unknownIn,
} from './facts.ts';

const again = 'the overlay again (with Helm: "helm upgrade")';
/** What to do about an object that is missing or changed, as a sentence and within one. */
export const [applyAgain, orApplyAgain] = [`Apply ${again}`, `or apply ${again}`];

/** A part of the installation, with what follows from how it is. */
export interface PartResult {
  status: PartStatus;
  fault?: Fault;
  /** What to do about the fault; absent where there is none. */
  advice?: string;
  /** Whether it is a fault by the mode of the configuration only. */
  byMode?: boolean;
  /** Whether a missing right is why it is not known. */
  forbidden?: true;
  /** The right whose lack is why it is not known. */
  right?: string;
  /** Whether nothing can be said about admission without it, and a missing right is why it is not known. */
  blind?: boolean;
}

type Subject = Pick<PartStatus, 'part' | 'object'>;

/** A part that is as it should be. */
export const inOrder = (subject: Subject, what: string): PartResult => ({
  status: { ...subject, inOrder: true, what },
});

/**
 * A part that is wrong.
 *
 * @param what what is wrong, and what comes of it
 * @param advice what to do
 */
export const wrong = (subject: Subject, code: ErrorCode, what: string, advice: string): PartResult => ({
  status: { ...subject, inOrder: false, what },
  fault: { code, message: `${subject.object}: ${what}. ${advice}` },
  advice,
});

/**
 * A part about which nothing is known.
 *
 * @param essential whether admission depends on it
 */
export const notKnown = (
  subject: Subject,
  { why, forbidden, right }: Unknown,
  essential: boolean,
): PartResult => ({
  status: { ...subject, inOrder: null, what: why },
  blind: essential && forbidden,
  ...(forbidden && { forbidden }),
  ...(right !== undefined && { right }),
});

/**
 * Whether the Deployment has the replicas that it is to have. One that does not exist is no fault: the Service's
 * endpoints may be somebody else's, such as containers of docker compose.
 *
 * @param without what happens to new pods while no replica answers
 */
export function judgeDeployment(
  namespace: string,
  name: string,
  deployment: Observation<DeploymentFacts>,
  without: string,
): PartResult {
  const subject = { part: 'deployment', object: `Deployment ${namespace}/${name}` } as const;
  const unknown = unknownIn(deployment);
  if (unknown !== undefined) return notKnown(subject, unknown, false);
  const found = foundIn(deployment);
  if (found === undefined) {
    const why = 'it does not exist; whatever stands behind the Service is run in another way';
    return notKnown(subject, { why, forbidden: false }, false);
  }
  const { desired, ready, updated, stuck } = found;
  const fault = (what: string, advice: string): PartResult =>
    wrong(subject, 'CNI_GATE_DEPLOYMENT', ready === 0 ? `${what}, so ${without}` : what, advice);
  if (desired === 0) {
    const scale = `kubectl -n ${namespace} scale deployment ${name} --replicas=2`;
    return fault('it is scaled to 0 replicas', `Run "${scale}"`);
  }
  const pods = `Look at "kubectl -n ${namespace} get pods"`;
  const count = `${ready} of ${desired} replicas are ready`;
  if (ready < desired) return fault(count, pods);
  if (stuck !== undefined) return fault(`its rollout got stuck: ${stuck}`, pods);
  return inOrder(subject, updated < desired ? `${count}, ${updated} updated` : count);
}

/**
 * Whether the API server finds a ready endpoint behind a Service that our webhooks call.
 *
 * @param without what happens to new pods while no replica answers
 * @param failurePolicy of the webhook for pods; undefined: not known
 * @param listening ports of the replicas; undefined where they are not known
 */
export function judgeService(
  facts: ServiceFacts,
  without: string,
  failurePolicy: InstallationFacts['failurePolicy'],
  listening: readonly number[] | undefined,
): PartResult {
  const { namespace, name, port } = facts;
  const subject = { part: 'service', object: `Service ${namespace}/${name}` } as const;
  const fault = (what: string, advice: string): PartResult =>
    wrong(subject, 'CNI_GATE_NO_ENDPOINTS', `${what}, so ${without}`, advice);
  const unknown = unknownIn(facts.service);
  if (unknown !== undefined) return notKnown(subject, unknown, true);
  const service = foundIn(facts.service);
  if (service === undefined) {
    return fault('it does not exist, and webhooks call it', applyAgain);
  }
  // a Service of this type has no endpoints: the API server goes to the name
  if (service.externalName !== undefined) {
    const why = `it leads to ${service.externalName}: only a probe shows whether a server answers there`;
    return notKnown(subject, { why, forbidden: false }, true);
  }
  if (!service.ports.includes(port)) {
    return fault(`it has no port ${port}, which webhooks call`, applyAgain);
  }
  const unseen = unknownIn(facts.endpoints);
  if (unseen !== undefined) return notKnown(subject, unseen, true);
  const { all, withPort, ready } = foundIn(facts.endpoints) ?? { all: 0, withPort: 0, ready: 0 };
  const { targetPorts = [] } = facts;
  if (ready > 0 && listening && !targetPorts.some((one) => listening.includes(one))) {
    return fault(
      `its endpoints have port ${targetPorts.join(', ')}, and the replicas listen on ${listening.join(', ')}`,
      `Compare targetPort of the Service with the ports of the pods, ${orApplyAgain}`,
    );
  }
  if (ready > 0) {
    const open = failurePolicy === 'Ignore' ? `; failurePolicy Ignore: while none answers, ${without}` : '';
    return inOrder(subject, `${ready} of ${all} endpoints are ready${open}`);
  }
  if (all > 0 && withPort === 0) {
    return fault(
      `none of its ${all} endpoints has a TCP port for port ${port}`,
      `Compare protocol and targetPort of the Service with the ports of the pods, ${orApplyAgain}`,
    );
  }
  return fault(
    all === 0 ? 'it has no endpoint' : `none of its ${all} endpoints is ready`,
    `Look at "kubectl -n ${namespace} get pods,endpointslices" and at the selector of the Service`,
  );
}

/** A webhook that is called by a URL: nothing in the cluster shows whether a server answers there. */
export function judgeUrl(url: string): PartResult {
  const why = 'a webhook calls it, and only a probe shows whether a server answers there';
  return notKnown({ part: 'service', object: `URL ${url}` }, { why, forbidden: false }, true);
}

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
    return notKnown(subject, { why: 'it is not known where it is', forbidden: false }, false);
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
    'Run "cni-gate certs show", or check what writes your certificate and caBundle',
  );
}

/**
 * How much longer than it says a Lease is believed: its time is that of the holder's clock, which may be behind, and
 * a busy holder renews late.
 */
const margin = 15_000;

/**
 * Whether a replica leads. Only that one sends pods that were refused elsewhere, and recreates those that failed.
 *
 * @param undone what does not happen without a leader, by modes and version; empty if nothing is missing
 * @param now milliseconds since the epoch
 */
export function judgeLeader(
  namespace: string,
  lease: Observation<LeaseFacts>,
  undone: readonly string[],
  now: number,
): PartResult {
  const subject = { part: 'leader', object: `Lease ${namespace}/${leaderLease}` } as const;
  const unknown = unknownIn(lease);
  if (unknown !== undefined) return notKnown(subject, unknown, false);
  const found = foundIn(lease);
  const what = found === undefined ? 'it does not exist: no replica has led yet' : staleness(found, now);
  if (what === undefined) return inOrder(subject, `held by ${found?.holder}`);
  if (undone.length === 0) return inOrder(subject, `${what}; nothing is steered or recreated anyway`);
  const result = wrong(
    subject,
    'CNI_GATE_NO_LEADER',
    `${what}, so ${undone.join(', and ')}`,
    `Look at "kubectl -n ${namespace} logs deployment/cni-gate"`,
  );
  return { ...result, byMode: true };
}

function staleness({ holder, renewed, duration }: LeaseFacts, now: number): string | undefined {
  if (holder === '') return 'nobody holds it';
  if (renewed === undefined) return `${holder} holds it and never renewed it`;
  if (now - renewed <= duration + margin) return undefined;
  return `${holder} holds it and has not renewed it since ${timeText(renewed)}`;
}
