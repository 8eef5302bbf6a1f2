import type { Policy } from '../../config/policy.ts';
import { installedDeployment, installedPolicies } from '../../lib/names.ts';
import type { ProbeFacts, Registered, SchedulerFacts } from '../facts.ts';
import type { Fault, PartStatus } from '../model.ts';
import { foundIn, type InstallationFacts, type Observation, type PolicyPair, unknownIn } from './facts.ts';
import {
  judgeCertificate,
  judgeDeployment,
  judgeLeader,
  judgeService,
  judgeUrl,
  type PartResult,
} from './parts.ts';
import { judgePolicy } from './policies.ts';

/** What is known of the parts of an installation, and what follows from it. */
export interface Installation {
  /** Whether anything of it is there; null where that is not known. */
  present: boolean | null;
  parts: PartStatus[];
  /** The same parts, each with what follows from it. */
  results: PartResult[];
  faults: Fault[];
  /** Parts about which nothing is known though admission depends on them, as rights are missing. */
  blind: string[];
  /** Why calls of a kind of webhooks do not get through; undefined where nothing is known to hinder them. */
  hindered: { mutating: string | undefined; validating: string | undefined };
  /** Why no replica leads; undefined where one does, or where that is not known. */
  leaderless: string | undefined;
}

interface Given {
  installation: InstallationFacts;
  registered: Registered;
  policy: Policy;
  scheduler: SchedulerFacts | undefined;
  probe: ProbeFacts | undefined;
  now: number;
}

/** Judges what admission depends on. Pure: the same facts at the same time give the same answer. */
export function judgeInstallation({ installation, registered, policy, ...given }: Given): Installation {
  const { namespace, deployment, certificate, lease, services, urls } = installation;
  const without = withoutAnswer(installation);
  const proved = given.probe?.outcome === 'injected' && sameBundles(registered);
  // also where the probe was answered: the API server keeps its connections for a while
  const listening = foundIn(deployment)?.ports;
  const steers = policy.steer.mode !== 'off' && policy.gate.mode === 'enforce';
  const nominates = given.scheduler?.goesByNominations !== false;
  const recreates = policy.repair.mode === 'recreate' && policy.proof.mode === 'enforce';
  const results = {
    deployment: judgeDeployment(namespace, installedDeployment, deployment, without),
    services: [
      ...services.map((service) => judgeService(service, without, installation.failurePolicy, listening)),
      ...urls.map(judgeUrl),
    ],
    certificate: judgeCertificate(certificate, proved),
    policies: policiesOf(installation).map((pair) => judgePolicy(pair, policy.proof.mode === 'enforce')),
    leader: judgeLeader(
      namespace,
      lease,
      [
        ...(steers && nominates ? ['pods that are refused are sent nowhere'] : []),
        ...(recreates ? ['pods whose proof failed are not recreated'] : []),
      ],
      given.now,
    ),
  };
  const all: PartResult[] = [
    results.deployment,
    ...results.services,
    results.certificate,
    ...results.policies,
    results.leader,
  ];
  const silent = results.services.find(({ fault }) => fault !== undefined)?.status;
  const unanswered = silent && `${silent.object}: ${silent.what.split(', so ')[0]}`;
  return {
    present: presence(installation, registered),
    parts: all.map(({ status }) => status),
    results: all,
    faults: all.flatMap(({ fault }) => fault ?? []),
    blind: all.flatMap(({ status, blind }) => (blind ? [`${status.object}: ${status.what}`] : [])),
    hindered: {
      mutating: unanswered ?? distrust(installation, registered.mutating),
      validating: unanswered ?? distrust(installation, registered.validating),
    },
    leaderless: results.leader.fault && results.leader.status.what.split(', so ')[0],
  };
}

/** What happens to new pods while no replica answers, in words. */
function withoutAnswer({ failurePolicy }: InstallationFacts): string {
  const where = 'of namespaces that opted in';
  if (failurePolicy === undefined) return `new pods ${where} are refused, or start without a proof`;
  return failurePolicy === 'Fail'
    ? `every new pod ${where} is refused`
    : `new pods ${where} start without a proof`;
}

type FoundPair = PolicyPair & { name: (typeof installedPolicies)[number] };

const isOurs = (pair: PolicyPair): pair is FoundPair => installedPolicies.some((name) => name === pair.name);

const policiesOf = ({ policies }: InstallationFacts): FoundPair[] => policies.filter(isOurs);

function distrust(installation: InstallationFacts, webhooks: Registered['mutating']): string | undefined {
  const names = new Set(webhooks?.map(({ name }) => name));
  const first = foundIn(installation.certificate)?.webhooks.find(
    ({ name, fault }) => fault !== undefined && names.has(name),
  );
  return first && `the API server does not accept the certificate for ${first.name}: ${first.fault}`;
}

function sameBundles({ mutating, validating }: Registered): boolean {
  const bundles = [...(mutating ?? []), ...(validating ?? [])].map(({ caBundle }) => caBundle);
  return mutating !== undefined && validating !== undefined && new Set(bundles).size === 1;
}

/** The binding of the policy over pods counts: where it stays behind alone, it refuses every pod. */
function presence(installation: InstallationFacts, { mutating, validating }: Registered): boolean | null {
  const { deployment, services, policies } = installation;
  const binding = policies.find(({ name }) => name === installedPolicies[0])?.binding ?? 'absent';
  const seen: Observation<unknown>[] = [deployment, binding, ...services.map(({ service }) => service)];
  if (mutating?.length || validating?.length || seen.some((one) => foundIn(one) !== undefined)) return true;
  const dark = mutating === undefined || validating === undefined || seen.some((one) => unknownIn(one));
  return dark ? null : false;
}
