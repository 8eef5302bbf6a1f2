import type { Reviewed } from '../model.ts';

/** The note that a workload is in the input a second time. */
export const twice = (other: string): string => `it occurs twice: also in ${other}`;

/** Notes on a verdict. */
export function notesOn({ workload, verdict }: Reviewed): string[] {
  const { assumed = [] } = verdict;
  return [
    ...(workload.alsoIn === undefined ? [] : [twice(workload.alsoIn)]),
    ...(workload.unknownKind
      ? [`${workload.kind} is not a known kind: it counts as a workload because of its spec.template`]
      : []),
    ...(assumed.length > 0 ? [`checked as if the injector of ${assumed.join(' and ')} had run`] : []),
  ];
}
