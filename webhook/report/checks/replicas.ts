import type { V1ServicePort } from '@kubernetes/client-node';
import { installedDeployment, installedService } from '../../lib/names.ts';
import { isRollingOut } from '../facts/deployment.ts';
import type { InstallationFacts } from '../facts/installation.ts';
import { foundIn, unknownIn } from '../facts/observation.ts';
import { applyAgain, type Finding, failed, judged, notKnown, passed, skipped, warning } from './finding.ts';

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
      const scale = `Run "kubectl -n ${namespace} scale deployment ${installedDeployment} --replicas=2"`;
      if (desired === 0) return fault('it is scaled to 0 replicas', scale);
      const pods = `Look at "kubectl -n ${namespace} get pods"`;
      const count = `${ready} of ${desired} replicas are ready`;
      if (ready < desired) return fault(count, pods);
      const stuck = conditions?.find(({ reason }) => reason === 'ProgressDeadlineExceeded');
      if (stuck) return fault(`its rollout got stuck: ${stuck.message}`, pods);
      if (isRollingOut(found))
        return warning(
          `${object}: a rollout is not complete: ${updated} of ${desired} replicas are updated`,
          pods,
        );
      if (desired === 1 && installation.failurePolicy === 'Fail')
        return warning(`${object}: one replica: while it restarts, ${withoutAnswer(installation)}`, scale);
      return passed(count);
    },
    false,
    object,
  );
}

/** The port of the Service that webhooks call, and the replicas' port behind it by name and number, as in the manifests. */
const called = { port: 443, targetPort: ['https', 8443] };

/** Whether the API server finds a ready endpoint behind the Service that our webhooks call. */
export function checkService(installation: InstallationFacts): Finding {
  const { namespace, url, elsewhere, service, slices, failurePolicy } = installation;
  if (url !== undefined) return skipped(`webhooks call ${url}: only a probe shows whether a server answers`);
  const object = `Service ${namespace}/${installedService}`;
  const fault = (what: string, hint = applyAgain): Finding =>
    failed('CNI_GATE_NO_ENDPOINTS', `${object}: ${what}, so ${withoutAnswer(installation)}`, hint);
  if (elsewhere.length > 0) return fault(`webhooks ${elsewhere.join(', ')} call another server`);
  return judged(
    service,
    (found) => {
      if (found === undefined) return fault('it does not exist, and webhooks call it');
      const { ports, selector } = found.spec ?? {};
      const port = ports?.find((one) => isCalled(one, selector !== undefined));
      if (port === undefined)
        return fault(`it has no TCP port ${called.port} with targetPort ${called.targetPort[0]}`);
      const { name = '' } = port;
      const unseen = unknownIn(slices);
      if (unseen !== undefined) return notKnown({ ...unseen, why: `${object}: ${unseen.why}` }, true);
      const all = foundIn(slices) ?? [];
      const count = all.flatMap(({ endpoints }) => endpoints).length;
      // as in the API, an endpoint that does not say whether it is ready is
      const ready = all
        .filter(({ ports }) => ports.some((one) => one.port && (one.name ?? '') === name))
        .flatMap(({ endpoints }) => endpoints)
        .filter(({ conditions }) => conditions?.ready !== false).length;
      const open = failurePolicy === 'Ignore' ? `; while none is, ${withoutAnswer(installation)}` : '';
      if (ready > 0) return passed(`${ready} of ${count} endpoints are ready${open}`);
      return fault(
        count === 0 ? 'it has no endpoint' : `none of its ${count} endpoints is ready with port ${name}`,
        `Look at "kubectl -n ${namespace} get pods,endpointslices" and at the selector of the Service`,
      );
    },
    true,
    object,
  );
}

/** @param selects whether the endpoints are pods: others may have any port */
const isCalled = ({ port, targetPort, protocol = 'TCP' }: V1ServicePort, selects: boolean): boolean =>
  port === called.port && (!selects || called.targetPort.includes(targetPort ?? port)) && protocol === 'TCP';
