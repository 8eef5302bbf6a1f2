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
import { controllerOf, type NodeRequired, ownerKeyOf, type PodEvidence } from './pod-evidence.ts';
import { checkedIn } from './status-annotation.ts';
import {
  conditionOf,
  type ProofContext,
  resultOf,
  sandboxCondition,
  timeOf,
  validatorStatus,
} from './verdict.ts';

/** Returns a function that picks the facts to keep of a pod. Equal texts and lists in its results share memory. */
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
    // only the few pods to which these fields apply get them, which saves memory
    if (verdict === 'passed' && readMessage(ended?.message).wayNotShown) kept.wayNotShown = true;
    const job = releasedFrom(metadata);
    if (job !== undefined) kept.releasedFrom = job;
    if (verdict !== 'passed' && ended?.exitCode === exitCode.passed) kept.warned = true;
    if (verdict === 'failed') {
      kept.failedVersion = kept.version;
      kept.controller = controllerOf(metadata);
      kept.required = required(spec, profiles);
    }
    return kept;
  };
}

/** Returns a function that maps equal values to one object. It forgets all values when there are too many. */
function sharing<T>(most: number, keyOf: (value: T) => string = String): (value: T) => T {
  const known = new Map<string, T>();
  return (value) => {
    if (known.size >= most) known.clear();
    return getOrMake(known, keyOf(value), () => value);
  };
}

/**
 * The Job from which repair released a pod. Whatever its annotation says, a pod that still has a Job's label, or whose
 * controller is not a Job, is not released.
 */
function releasedFrom({ annotations, labels, ownerReferences }: ApiPod['metadata']): string | undefined {
  const job = annotations?.[releasedAnnotation];
  if (typeof job !== 'string') return undefined;
  const isFound = foreign.jobLabels.some((key) => getOwn(labels, key) !== undefined);
  // the Job's controller removes its owner reference a moment after the release
  const isOwned = ownerReferences?.some(({ controller, kind }) => controller === true && kind !== 'Job');
  return isFound || isOwned ? undefined : job.slice(0, nameCharacters);
}

/** The last 48 bits of a container's hexadecimal id, as a number, which takes less memory than the text. */
function numberOf(id: string | null | undefined): number | undefined {
  const digits = /[\da-f]{12}$/.exec(id ?? '')?.[0];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}

const none: readonly string[] = [];

/** The profiles that failed by the message, which users can forge; all profiles of the pod if it names none of them. */
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

/** What a pod without a verdict waits for, and since when. The text stays the same while the cause does. */
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

/** Makes a text that others wrote short and safe to show. */
const short = (value: string): string => clean(value.slice(0, nameCharacters));
