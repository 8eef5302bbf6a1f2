import type { Reviewed } from '../model.ts';

/** Notes on a verdict. */
export function notesOn({ workload, verdict }: Reviewed): string[] {
  const { assumed = [] } = verdict;
  return [
    ...(workload.alsoIn === undefined ? [] : [`it occurs twice: also in ${workload.alsoIn}`]),
    ...(workload.unknownKind
      ? [`${workload.kind} is not a known kind: it counts as a workload because of its spec.template`]
      : []),
    ...(assumed.length > 0 ? [`checked as if the injector of ${assumed.join(' and ')} had run`] : []),
  ];
}
