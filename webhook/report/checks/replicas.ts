import type { DiscoveryV1EndpointPort, V1Service, V1ServicePort } from '@kubernetes/client-node';
import { installedDeployment } from '../../lib/names.ts';
import { listeningPorts } from '../facts/deployment.ts';
import type { InstallationFacts, ServiceFacts } from '../facts/installation.ts';
import { foundIn, unknownIn } from '../facts/observation.ts';
import {
  applyAgain,
  type Finding,
  failed,
  judged,
  notKnown,
  orApplyAgain,
  passed,
  skipped,
  worst,
} from './finding.ts';

/** What happens to new pods while no replica answers, in words. */
function withoutAnswer({ failurePolicy }: InstallationFacts): string {
  const where = 'of namespaces that opted in';
  if (failurePolicy === undefined) return `new pods ${where} are refused, or start without a proof`;
  return failurePolicy === 'Fail'
    ? `every new pod ${where} is refused`
    : `new pods ${where} start without a proof`;
}

/**
 * Whether the Deployment has the replicas that it is to have. One that does not exist is no fault: the Service's
 * endpoints may be run in another way, such as by docker compose.
 */
export function checkDeployment(installation: InstallationFacts): Finding {
  const { namespace, deployment } = installation;
  const object = `Deployment ${namespace}/${installedDeployment}`;
  return judged(
    deployment,
    (found) => {
      if (found === undefined)
        return skipped(`${object}: it does not exist; the endpoints of the Service are run in another way`);
      const { readyReplicas: ready = 0, updatedReplicas: updated = 0, conditions } = found.status ?? {};
      const desired = found.spec?.replicas ?? 1;
      const fault = (what: string, hint: string): Finding => {
        const comes = ready === 0 ? `, so ${withoutAnswer(installation)}` : '';
        return failed('CNI_GATE_DEPLOYMENT', `${object}: ${what}${comes}`, hint);
      };
      if (desired === 0) {
        const scale = `kubectl -n ${namespace} scale deployment ${installedDeployment} --replicas=2`;
        return fault('it is scaled to 0 replicas', `Run "${scale}"`);
      }
      const pods = `Look at "kubectl -n ${namespace} get pods"`;
      const count = `${ready} of ${desired} replicas are ready`;
      if (ready < desired) return fault(count, pods);
      const stuck = conditions?.find(({ reason }) => reason === 'ProgressDeadlineExceeded');
      if (stuck) return fault(`its rollout got stuck: ${stuck.message}`, pods);
      return passed(updated < desired ? `${count}, ${updated} updated` : count);
    },
    false,
    object,
  );
}

/** Whether the API server finds a ready endpoint behind each Service that our webhooks call. */
export function checkServices(installation: InstallationFacts): Finding {
  const { services, urls } = installation;
  return worst([
    ...services.map((service) => checkService(service, installation)),
    ...urls.map((url) => onlyProbe(`URL ${url}: a webhook calls it`)),
  ]);
}

/** Nothing in the cluster shows whether a server answers there. */
const onlyProbe = (what: string): Finding =>
  skipped(`${what}, and only a probe shows whether a server answers there`);

function checkService(facts: ServiceFacts, installation: InstallationFacts): Finding {
  const { namespace, name, port } = facts;
  const object = `Service ${namespace}/${name}`;
  const fault = (what: string, hint: string): Finding =>
    failed('CNI_GATE_NO_ENDPOINTS', `${object}: ${what}, so ${withoutAnswer(installation)}`, hint);
  return judged(
    facts.service,
    (service) => {
      if (service === undefined) return fault('it does not exist, and webhooks call it', applyAgain);
      const { type, externalName, ports = [] } = service.spec ?? {};
      // a Service of this type has no endpoints: the API server goes to the name
      if (type === 'ExternalName') return onlyProbe(`${object}: it leads to ${externalName}`);
      if (!ports.some((one) => one.port === port))
        return fault(`it has no port ${port}, which webhooks call`, applyAgain);
      const unseen = unknownIn(facts.slices);
      if (unseen !== undefined) return notKnown({ ...unseen, why: `${object}: ${unseen.why}` }, true);
      return checkEndpoints(facts, service, installation, fault);
    },
    true,
    object,
  );
}

function checkEndpoints(
  facts: ServiceFacts,
  service: V1Service,
  installation: InstallationFacts,
  fault: (what: string, hint: string) => Finding,
): Finding {
  const { namespace, port } = facts;
  const { all, withPort, ready, targetPorts } = endpointsOf(facts, service);
  const deployment = foundIn(installation.deployment);
  const listening = deployment && listeningPorts(deployment);
  // also where the probe was answered: the API server keeps its connections for a while
  if (ready > 0 && listening && !targetPorts.some((one) => listening.includes(one))) {
    return fault(
      `its endpoints have port ${targetPorts.join(', ')}, and the replicas listen on ${listening.join(', ')}`,
      `Compare targetPort of the Service with the ports of the pods, ${orApplyAgain}`,
    );
  }
  if (ready > 0) {
    const open = `; failurePolicy Ignore: while none answers, ${withoutAnswer(installation)}`;
    const isOpen = installation.failurePolicy === 'Ignore';
    return passed(`${ready} of ${all} endpoints are ready${isOpen ? open : ''}`);
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

/**
 * Counts the endpoints of a Service: all, those with a TCP port for the port that webhooks call, and how many of these
 * are ready, also those that do not say so. `targetPorts` are these ports.
 * https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/
 */
function endpointsOf({ port, slices }: ServiceFacts, { spec }: V1Service) {
  const isTcp = ({ protocol }: V1ServicePort | DiscoveryV1EndpointPort) => (protocol ?? 'TCP') === 'TCP';
  // a port of a Service and of its EndpointSlices have the name in common, which may be empty
  const called = (spec?.ports ?? []).filter((one) => one.port === port && isTcp(one));
  const names = called.map(({ name }) => name ?? '');
  const found = foundIn(slices) ?? [];
  const serving = found.flatMap(({ ports, endpoints }) => {
    const its = ports.filter((one) => isTcp(one) && one.port && names.includes(one.name ?? ''));
    return its.length === 0 ? [] : [{ ports: its.map((one) => one.port ?? 0), endpoints }];
  });
  const withPort = serving.flatMap(({ endpoints }) => endpoints);
  return {
    all: found.flatMap(({ endpoints }) => endpoints).length,
    withPort: withPort.length,
    ready: withPort.filter(({ conditions }) => conditions?.ready !== false).length,
    targetPorts: [...new Set(serving.flatMap(({ ports }) => ports))],
  };
}
