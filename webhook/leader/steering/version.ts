/** From this minor version of Kubernetes 1 on, the scheduler uses nominations by other components (KEP-5278). */
const leastMinor = 35;
export const leastVersion = `1.${leastMinor}`;

export interface ApiVersion {
  major: string;
  /** The minor version, which may end in `+`, such as `30+`. */
  minor: string;
  gitVersion: string;
}

type Numbers = Pick<ApiVersion, 'major' | 'minor'>;

/** Whether a version is at least Kubernetes 1.`least`. */
export const isSince = ({ major, minor }: Numbers, least: number): boolean =>
  Number.parseInt(major, 10) > 1 || Number.parseInt(minor, 10) >= least;

export const usesNominations = (version: Numbers): boolean => isSince(version, leastMinor);
