import { foundIn, type InstallationFacts, type ServiceFacts, unknownIn } from './facts.ts';
import { inOrder, notKnown, type PartResult, wrong } from './part.ts';

/**
 * Whether the API server finds somebody behind a Service that webhooks of ours call.
 *
 * @param without what becomes of new pods while nobody answers
 * @param failurePolicy of the webhook for pods; undefined: not known
 */
export function judgeService(
  facts: ServiceFacts,
  without: string,
  failurePolicy?: InstallationFacts['failurePolicy'],
): PartResult {
  const { namespace, name, port } = facts;
  const subject = { part: 'service', object: `Service ${namespace}/${name}` } as const;
  const fault = (what: string, advice: string): PartResult =>
    wrong(subject, 'CNI_GATE_NO_ENDPOINTS', `${what}, so ${without}`, advice);
  const unknown = unknownIn(facts.service);
  if (unknown !== undefined) return notKnown(subject, unknown, true);
  const service = foundIn(facts.service);
  if (service === undefined) {
    return fault('it does not exist, and webhooks call it', 'Apply the overlay again');
  }
  // a Service of this type has no endpoints: the API server goes to the name
  if (service.externalName !== undefined) {
    const why = `it leads to ${service.externalName}: only --probe tells whether somebody answers there`;
    return notKnown(subject, { why, forbidden: false }, true);
  }
  if (!service.ports.includes(port)) {
    return fault(`it has no port ${port}, which webhooks call`, 'Apply the overlay again');
  }
  const unseen = unknownIn(facts.endpoints);
  if (unseen !== undefined) return notKnown(subject, unseen, true);
  const { all, withPort, ready } = foundIn(facts.endpoints) ?? { all: 0, withPort: 0, ready: 0 };
  if (ready > 0) {
    const open = failurePolicy === 'Ignore' ? `; failurePolicy Ignore: while none answers, ${without}` : '';
    return inOrder(subject, `${ready} of ${all} endpoints are ready${open}`);
  }
  if (all > 0 && withPort === 0) {
    return fault(
      `none of its ${all} endpoints has a TCP port for port ${port}`,
      `Compare protocol and targetPort of the Service with the ports of the pods, or apply the overlay again`,
    );
  }
  return fault(
    all === 0 ? 'it has no endpoint' : `none of its ${all} endpoints is ready`,
    `Look at "kubectl -n ${namespace} get pods,endpointslices" and at the selector of the Service`,
  );
}

/** A webhook that is called by a URL: nothing of the cluster tells whether somebody answers there. */
export function judgeUrl(url: string): PartResult {
  const why = 'a webhook calls it, and only --probe tells whether somebody answers there';
  return notKnown({ part: 'service', object: `URL ${url}` }, { why, forbidden: false }, true);
}
