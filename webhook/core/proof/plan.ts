import {
  type Check,
  type Continuous,
  type ProfileCheck,
  validateCommand,
  type WitnessCheck,
} from '../../../validator/shared/contract.ts';
import { quoted } from '../../lib/clean.ts';
import { CniGateError } from '../../lib/errors.ts';
import { getOwn } from '../../lib/maps.ts';
import {
  allContainers,
  type Container,
  type Pod,
  type Resources,
  tokenMount,
  type VolumeMount,
} from '../facts/pod.ts';
import { joinedAnnotation } from '../profiles/annotations.ts';
import {
  type CheckOfProfile,
  checkNameOf,
  type Profile,
  type ProfileProof,
  type ProofSettings,
} from '../profiles/types.ts';
import { rechecksFor } from './continuous.ts';
import { familiesIn, narrow } from './families.ts';
import { idsIn, imageUser, type Place, type ProofIds, runAsFor } from './ids.ts';
import { counted, resourcesFor } from './resources.ts';
import { targetsIn } from './skipped-ports.ts';
import { witnessFor } from './witness.ts';

/** How one pod proves its networks: everything on which the init container and the patch depend. */
export interface ProofPlan {
  /** The checks of our validator, in the order of the profiles. */
  checks: ProfileCheck[];
  /**
   * The names of the checks, each once; `container` is a network's own validator, `continuous` means rechecks. Empty if
   * nothing is proved.
   */
  checkNames: string[];
  /** Whether nothing is proved because a network's own validator could stop the pod, which the mode `warn` forbids. */
  refuses: boolean;
  /** Whether a network's own validator runs instead of ours. */
  ownValidator: boolean;
  /** The image and the command of the init container. */
  program: Pick<Container, 'image' | 'args'> & { command?: string[] };
  witness: WitnessCheck | undefined;
  /** Set if the checks are repeated while the pod runs. */
  continuous: Continuous | undefined;
  /** The ids that the checks require and exclude. */
  ids: ProofIds;
  runAs: { runAsUser?: number; runAsGroup?: number };
  resources: Resources | undefined;
  tokenMount: VolumeMount | undefined;
  annotations: Map<string, string>;
  /** The names of the mesh's init containers that the proof replaces. */
  replaced: readonly string[];
  warnings: string[];
}

/**
 * Plans the proof of a pod for the profiles that apply to it.
 * @throws CniGateError CNI_GATE_PROFILE_COMBINATION if one profile's proof must run as a user or group that another
 *   profile's proof excludes; CNI_GATE_PORTS_SKIPPED as in {@link targetsIn}
 */
export function planFor(
  { pod: asked, namespace }: Place,
  profiles: readonly Profile[],
  proof: ProofSettings,
): ProofPlan {
  // in warn mode, the proof stops no pod, so the mesh's own validator stays
  const replaced = proof.mode === 'warn' ? [] : profiles.flatMap((profile) => profile.proof.replaces ?? []);
  const kept: string[] = [];
  const annotations = annotationsFor(asked, profiles, kept);
  const pod = seenLater(asked, replaced, annotations);
  const place = { pod, namespace };
  const container = profiles.find((profile) => profile.proof.container !== undefined)?.proof.container;
  // a witness would keep the pod from starting after a failure, even in warn mode
  const witness = proof.mode === 'warn' ? undefined : witnessFor(place, profiles);
  const checks = [...checksIn(place, profiles), ...witnessChecks(profiles, witness)];
  const redirects = checks.flatMap((check) => ('redirect' in check ? [check.redirect] : []));
  const all = [...redirects, ...(container === undefined ? [] : [idsIn(container, place)])];
  const ids: ProofIds = {
    asUser: all.find(({ asUser }) => asUser !== undefined)?.asUser,
    asGroup: all.find(({ asGroup }) => asGroup !== undefined)?.asGroup,
    notAsUsers: all.flatMap(({ notAsUser }) => notAsUser ?? []),
    notAsGroups: all.flatMap(({ notAsGroup }) => notAsGroup ?? []),
  };
  refuseContradiction(ids, profiles);
  const ownValidator = container !== undefined;
  // a network's own validator would keep the pod from starting after a failure, even in warn mode
  const refuses = ownValidator && proof.mode === 'warn';
  const rechecks = rechecksFor(place, profiles, witness);
  const { settings: continuous, exclusion } = typeof rechecks === 'object' ? rechecks : {};
  if (exclusion !== undefined) annotations.set(...exclusion);
  const names = [
    ...profiles.flatMap((profile) => profile.proof.checks.map(checkNameOf)),
    ...(ownValidator ? ['container'] : []),
    ...(witness ? ['witness'] : []),
    ...(continuous ? ['continuous'] : []),
  ];
  const image = container?.image ?? allContainers(pod).find(({ name }) => name === container?.imageOf)?.image;
  const { command, args } = container ?? {};
  const warnings = [
    ...(witness === undefined ? noWitness(profiles, proof) : []),
    ...(refuses
      ? ['not proved: proof.mode is warn, and proof.container of the profile can only refuse']
      : []),
    ...(typeof rechecks === 'string' ? [`proof.continuous is left out: ${rechecks}`] : []),
  ];
  return {
    checks,
    checkNames: refuses ? [] : [...new Set(names)],
    refuses,
    ownValidator,
    program: ownValidator
      ? { ...(image && { image }), ...(command && { command }), ...(args && { args }) }
      : { image: proof.image, args: [validateCommand] },
    witness,
    continuous,
    ids,
    // if a network's own validator runs, the user of its image is not known
    runAs: runAsFor(pod, ids, ownValidator ? undefined : imageUser),
    resources: resourcesFor(pod, ownValidator, proof.resources),
    tokenMount: tokenMount(pod),
    annotations,
    replaced,
    warnings: [...warnings, ...kept],
  };
}

/** The pod as a later call sees it, so that both calls make the same plan. */
function seenLater(pod: Pod, replaced: readonly string[], annotations: ReadonlyMap<string, string>): Pod {
  const { metadata, spec } = pod;
  const initContainers = spec.initContainers?.filter(({ name }) => !replaced.includes(name));
  return {
    metadata:
      annotations.size === 0
        ? metadata
        : { ...metadata, annotations: { ...metadata.annotations, ...Object.fromEntries(annotations) } },
    spec: replaced.length === 0 ? spec : { ...spec, initContainers: initContainers ?? null },
  };
}

function checksIn(place: Place, profiles: readonly Profile[]): ProfileCheck[] {
  return profiles.flatMap(({ name, proof }) =>
    proof.checks.map((check) => ({ profile: name, ...checkIn(place, check, proof) })),
  );
}

function checkIn(place: Place, check: CheckOfProfile, proof: ProfileProof): Check {
  if ('redirect' in check) {
    const { skippedPorts: _, ...settings } = check.redirect;
    const connect = targetsIn(check.redirect, place);
    const redirect = narrow({ ...settings, connect }, familiesIn(place.pod, proof));
    return { redirect: { ...redirect, ...idsIn(check.redirect, place) } };
  }
  if ('interfaces' in check && requestsDevices(place.pod))
    return { interfaces: { ...check.interfaces, devices: true } };
  return check;
}

/** The witness check, for each profile that requires the witness or has an inbound redirect. */
function witnessChecks(profiles: readonly Profile[], witness: WitnessCheck | undefined): ProfileCheck[] {
  if (witness === undefined) return [];
  const { inbound, exempt: _, ...plain } = witness;
  return profiles.flatMap(({ name, proof }): ProfileCheck[] => {
    if (proof.inbound && inbound) return [{ profile: name, witness }];
    return proof.witness ? [{ profile: name, witness: plain }] : [];
  });
}

/** Warns about profiles that require the kubelet as witness but get none, with the reason. */
function noWitness(profiles: readonly Profile[], { mode }: ProofSettings): string[] {
  if (!profiles.some(({ proof }) => proof.witness !== undefined)) return [];
  const why =
    mode === 'warn'
      ? 'proof.mode is warn, and proof.witness of a profile can only refuse'
      : "only the proxy of this pod can accept the kubelet's connection (proof.inbound.transparent)";
  return [`${why}: the kubelet is no witness`];
}

/** Whether a container requests something that only some nodes have: the devices of a plugin, or huge pages. */
function requestsDevices(pod: Pod): boolean {
  return allContainers(pod).some(({ resources }) =>
    Object.keys({ ...resources?.limits, ...resources?.requests }).some(
      (name) => !counted.some((one) => one === name),
    ),
  );
}

/** Refuses ids of the pod that contradict each other; `conflicts` has compared the ids that profiles name. */
function refuseContradiction(ids: ProofIds, profiles: readonly Profile[]): void {
  const { asUser, asGroup = asUser, notAsUsers, notAsGroups } = ids;
  const clashes = [
    ...notAsUsers.filter((id) => id === asUser).map((id) => `user ${id}`),
    ...notAsGroups.filter((id) => id === asGroup).map((id) => `group ${id}`),
  ];
  if (clashes.length === 0) return;
  const names = profiles.map(({ name }) => `"${name}"`).join(' and ');
  throw new CniGateError(
    'CNI_GATE_PROFILE_COMBINATION',
    `the proof of this pod would have to run as ${clashes[0]}, which another of its checks (profiles ${names}) excludes: ` +
      'give the proxies of the pod different ids, or use only one of the profiles',
  );
}

/** The profiles' annotations that the pod lacks. For each other value that the pod keeps, adds a text to `warnings`. */
function annotationsFor(pod: Pod, profiles: readonly Profile[], warnings: string[]): Map<string, string> {
  const result = new Map<string, string>();
  for (const { name, annotations } of profiles) {
    for (const [key, value] of Object.entries(annotations)) {
      const current = result.get(key) ?? getOwn(pod.metadata.annotations, key);
      const joined = current === undefined ? value : joinedAnnotation(key, current, value);
      if (joined === undefined)
        warnings.push(
          `profile ${name}: the pod's own ${key} wins: "${quoted(current ?? '')}", not "${value}"`,
        );
      else if (joined !== current) result.set(key, joined);
    }
  }
  return result;
}
