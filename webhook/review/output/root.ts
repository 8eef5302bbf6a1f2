import { isAbsolute, relative, resolve, sep } from 'node:path';

/** Where reports look for files. Both folders are absolute. */
export interface Root {
  /** The folder to which names of files are relative. */
  folder: string;
  /** The folder of this process. */
  cwd: string;
}

/**
 * The root of the repository in CI, where the names of files in a report begin; otherwise the folder of this process.
 *
 * Sources: GitHub's `GITHUB_WORKSPACE` and GitLab's `CI_PROJECT_DIR`, among their predefined variables.
 */
export function reportRoot(env: NodeJS.ProcessEnv, cwd: string): Root {
  const folder = env.GITHUB_WORKSPACE || env.CI_PROJECT_DIR || cwd;
  return { folder: isWithin(folder, cwd) ? resolve(folder) : cwd, cwd };
}

/** A file's path from the root, with slashes; the absolute path if it is elsewhere. */
export function pathFrom({ folder, cwd }: Root, file: string): string {
  const path = resolve(cwd, file);
  const shown = isWithin(folder, path) ? relative(folder, path) : path;
  return shown.split(sep).join('/');
}

/** Whether a path is a folder itself or inside it. Both are absolute. */
function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return isAbsolute(folder) && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
