/** An error of the system, with its name. */
export class SystemError extends Error {
  readonly code: string;
  constructor(code: string, message = code) {
    super(message);
    this.code = code;
  }
}

/** The name of an error that a native function threw. */
export const codeOf = (error: unknown): string => (error as Error).message;

/** The words of libuv for errors of files, which Node's messages have. */
const words: Record<string, string> = {
  EACCES: 'permission denied',
  EIO: 'i/o error',
  EISDIR: 'illegal operation on a directory',
  ELOOP: 'too many symbolic links encountered',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'name too long',
  ENFILE: 'file table overflow',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  EPERM: 'operation not permitted',
  EROFS: 'read-only file system',
};

/**
 * Calls a native function on a file, and throws what Node would throw.
 *
 * @param call the system call that fails, as Node names it; a folder can be opened to read it
 */
export function onFile<Result>(call: 'open' | 'read' | 'readlink', path: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    const code = codeOf(error);
    const at = call === 'read' && code === 'EISDIR' ? 'read' : `${call === 'read' ? 'open' : call} '${path}'`;
    throw new SystemError(code, `${code}: ${words[code] ?? code}, ${at}`);
  }
}
