import { env, exitCode } from '../../../validator/shared/contract.ts';
import { readMessage } from '../../../validator/shared/message.ts';
import { clean } from '../../lib/clean.ts';
import { evidencePods, nameCharacters, planLimits } from '../../lib/limits.ts';
import { getOrMake, getOwn } from '../../lib/maps.ts';
import { foreign, releasedAnnotation, validatorContainer } from '../../lib/names.ts';
import { countTerms, hasClaims, requiredOf } from '../scheduling/constraints.ts';
import { addressesOf } from './addresses.ts';
import type { ApiPod, PodStatus } from './api.ts';
import { type Container, isOurContainer, variableOf } from './pod.ts';
import {
  controllerOf,
  type NodeRequired,
  ownerKeyOf,
  type PodEvidence,
  type Unready,
} from './pod-evidence.ts';
import { checkedIn } from './status-annotation.ts';
import {
  conditionOf,
  type ProofContext,
  resultOf,
  sandboxCondition,
  timeOf,
  validatorStatus,
} from './verdict.ts';

/** Returns a function that extracts the facts kept about a pod. Its results share memory for equal texts and lists. */
export function evidencePick(): (pod: ApiPod) => PodEvidence {
  const text = sharing<string>(evidencePods.sharedTexts);
  const list = sharing<readonly string[]>(evidencePods.sharedTexts, (values) => values.join(' '));
  const kinds = sharing<NodeRequired>(evidencePods.sharedKinds, ({ kind }) => kind);
  const required = (spec: ApiPod['spec'], profiles: readonly string[]): NodeRequired | undefined => {
    const ofPod = requiredOf(spec);
    const hasVolumes = hasClaims(spec.volumes);
    const kind = JSON.stringify([profiles, ofPod, hasVolumes]);
    const tooLarge = kind.length > evidencePods.requiredCharacters || countTerms(ofPod) > planLimits.terms;
    return tooLarge ? undefined : kinds({ ...ofPod, kind, hasVolumes });
  };
  return (pod) => {
    const { metadata, spec, status = {} } = pod;
    const context = contextOf(pod);
    const { verdict, ended } = resultOf(status, context);
    const profiles = list(checkedIn(pod));
    const sandbox = conditionOf(status, sandboxCondition);
    const hasSandbox = sandbox === undefined ? undefined : sandbox.status === 'True';
    const waits = verdict === 'waiting' ? waitOf(status, hasSandbox) : { for: '', since: undefined };
    const kept: PodEvidence = {
      uid: metadata.uid,
      namespace: text(metadata.namespace ?? ''),
      name: metadata.name,
      version: metadata.resourceVersion,
      node: text(spec.nodeName ?? ''),
      profiles,
      failedProfiles: verdict === 'failed' ? failedOf(ended?.message, profiles) : none,
      owner: text(ownerKeyOf(metadata)),
      createdAt: Date.parse(metadata.creationTimestamp),
      leaving: context.leaving,
      ended: status.phase === 'Succeeded' || status.phase === 'Failed',
      verdict,
      at: verdict === 'waiting' ? waits.since : timeOf(ended?.finishedAt),
      startedAt: timeOf(ended?.startedAt),
      run: numberOf(ended?.containerID),
      waitingFor: text(waits.for),
      hasSandbox,
      sandboxSince: hasSandbox ? timeOf(sandbox?.lastTransitionTime) : undefined,
      addresses: spec.hostNetwork === true ? none : addressesOf(pod, text),
    };
    // the fields below are set only for the few pods that need them, which saves memory
    if (verdict === 'passed' && readMessage(ended?.message).wayNotShown) kept.wayNotShown = true;
    const job = releasedFrom(metadata);
    if (job !== undefined) kept.releasedFrom = job;
    if (verdict !== 'passed' && ended?.exitCode === exitCode.passed) kept.warned = true;
    const unready = verdict === 'passed' && !kept.leaving && !kept.ended ? unreadyOf(pod) : undefined;
    if (unready !== undefined) Object.assign(kept, { unready, failedProfiles: profiles });
    if (verdict === 'failed') kept.failedVersion = kept.version;
    if (verdict === 'failed' || unready !== undefined) {
      kept.controller = controllerOf(metadata);
      kept.required = required(spec, profiles);
    }
    return kept;
  };
}

/** Returns a function that replaces equal values by one object. After `most` values, it forgets them all. */
function sharing<T>(most: number, keyOf: (value: T) => string = String): (value: T) => T {
  const known = new Map<string, T>();
  return (value) => {
    if (known.size >= most) known.clear();
    return getOrMake(known, keyOf(value), () => value);
  };
}

/**
 * The Job from which repair released a pod. Users can write the annotation too, so it counts only if the pod no longer
 * has a Job's labels, and its controller, if it has one, is a Job.
 */
function releasedFrom({ annotations, labels, ownerReferences }: ApiPod['metadata']): string | undefined {
  const job = annotations?.[releasedAnnotation];
  if (typeof job !== 'string') return undefined;
  const isFound = foreign.jobLabels.some((key) => getOwn(labels, key) !== undefined);
  // the owner reference stays until the Job's controller has noticed the release
  const isOwned = ownerReferences?.some(({ controller, kind }) => controller === true && kind !== 'Job');
  return isFound || isOwned ? undefined : job.slice(0, nameCharacters);
}

/** The last 48 bits of a container's hexadecimal id, as a number, which takes less memory than the text. */
function numberOf(id: string | null | undefined): number | undefined {
  const digits = /[\da-f]{12}$/.exec(id ?? '')?.[0];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}

const none: readonly string[] = [];

/** The profiles that failed according to the message, which users can forge; if it names none, all profiles. */
function failedOf(message: string | null | undefined, profiles: readonly string[]): readonly string[] {
  const results = readMessage(message).checks.filter(({ passed }) => !passed);
  const named = new Set(results.map(({ profile }) => profile));
  const failed = profiles.filter((name) => named.has(name));
  return failed.length === 0 || failed.length === profiles.length ? profiles : failed;
}

interface JudgedPod {
  metadata: Pick<ApiPod['metadata'], 'deletionTimestamp'>;
  spec: { initContainers?: Pick<Container, 'name' | 'env' | 'restartPolicy'>[] | null };
}

export function contextOf({ metadata, spec }: JudgedPod): ProofContext {
  const ours = spec.initContainers?.find(isOurContainer);
  return {
    // an empty list of checks marks a container that runs a network's own validator
    foreign: ours !== undefined && variableOf(ours, env.checks) === '[]',
    leaving: typeof metadata.deletionTimestamp === 'string',
    sidecar: ours?.restartPolicy === 'Always',
  };
}

/** {@link Unready.patience}: 10 s, or 60 s after a restart, but at least two periods of the probe. */
const [least, leastLater, periods] = [10_000, 60_000, 2];

/** Our container, if it has a readiness probe and is not ready after its proof passed; else undefined. */
function unreadyOf({ metadata, spec, status = {} }: ApiPod): Unready | undefined {
  const { readinessProbe } = spec.initContainers?.find(isOurContainer) ?? {};
  const { ready, started, state, lastState, containerID } = validatorStatus(status) ?? {};
  const changed = (type: string): number => timeOf(conditionOf(status, type)?.lastTransitionTime) ?? 0;
  // before the pod is initialized, no container of the application runs, so none can lose its network
  if (!readinessProbe || ready !== false || conditionOf(status, 'Initialized')?.status === 'False')
    return undefined;
  const startedAt = started === true ? timeOf(state?.running?.startedAt) : undefined;
  return {
    run: startedAt && (numberOf(containerID) ?? startedAt),
    at: Math.max(startedAt ?? 0, changed('ContainersReady'), changed('Initialized')),
    shownBy: metadata.resourceVersion,
    patience: Math.max(
      lastState?.terminated ? leastLater : least,
      periods * 1000 * (readinessProbe.periodSeconds ?? 10),
    ),
  };
}

/** What a pod without a verdict waits for, and since when. The text changes only with the cause. */
function waitOf(
  status: PodStatus,
  hasSandbox: boolean | undefined,
): { for: string; since: number | undefined } {
  const time = (type: string): number | undefined => timeOf(conditionOf(status, type)?.lastTransitionTime);
  const since = time(sandboxCondition) ?? time('PodScheduled');
  const ours = validatorStatus(status);
  if (ours === undefined) return { for: 'the kubelet', since };
  if (hasSandbox === false) return { for: 'a sandbox', since };
  const { running, waiting } = ours.state ?? {};
  if (running) return { for: 'the verdict', since: timeOf(running.startedAt) ?? since };
  const before = status.initContainerStatuses?.find(({ state }) => state?.running);
  if (before !== undefined) return { for: `init container ${short(before.name)}`, since };
  const reason = short(waiting?.reason ?? '');
  return { for: reason === '' ? validatorContainer : `${validatorContainer} (${reason})`, since };
}

/** Shortens a text that users can write, and makes it safe to show. */
const short = (value: string): string => clean(value.slice(0, nameCharacters));
