import type { Reviewed } from '../model.ts';

/** Notes on a verdict. */
export function notesOn({ workload, verdict }: Reviewed): string[] {
  const { assumed = [] } = verdict;
  return [
    ...(workload.unknownKind
      ? [`${workload.kind} is no known kind: it is taken for a workload by its spec.template`]
      : []),
    ...(assumed.length > 0 ? [`checked as if the injector of ${assumed.join(' and ')} had run`] : []),
  ];
}
