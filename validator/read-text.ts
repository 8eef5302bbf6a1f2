import { fs } from './builtins.ts';

/** The text of a file, or an empty one: what /proc and /sys do not show is treated as not there. */
export function readText(path: string): string {
  try {
    return fs().readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Where a symbolic link leads, or an empty text. */
export function readLink(path: string): string {
  try {
    return fs().readlinkSync(path);
  } catch {
    return '';
  }
}
