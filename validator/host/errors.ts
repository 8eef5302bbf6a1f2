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

/** What is wrong with the contents of a file, which is found only after it is open. */
const afterOpen: Record<'read' | 'write', string[]> = { read: ['EISDIR'], write: ['ENOSPC'] };

/**
 * Calls a native function on a file, and throws what Node would throw.
 *
 * @param call what is done with the file; Node names the system call that fails
 */
export function onFile<Result>(call: 'read' | 'write' | 'readlink', path: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    const code = codeOf(error);
    const isOpen = call !== 'readlink' && afterOpen[call].includes(code);
    const at = isOpen ? call : `${call === 'readlink' ? call : 'open'} '${path}'`;
    throw new SystemError(code, `${code}: ${words[code] ?? code}, ${at}`);
  }
}
