/** From this version on, the scheduler uses other components' nominations (KEP-5278). */
const least: readonly [major: number, minor: number] = [1, 35];
export const leastVersion = least.join('.');

export interface ApiVersion {
  major: string;
  /** The minor version, which may end in `+`, such as `30+`. */
  minor: string;
  gitVersion: string;
}

export function usesNominations({ major, minor }: Pick<ApiVersion, 'major' | 'minor'>): boolean {
  const [is, wanted] = [Number.parseInt(major, 10), least[0]];
  return is > wanted || (is === wanted && Number.parseInt(minor, 10) >= least[1]);
}
