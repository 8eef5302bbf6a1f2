import { type Fault, faultAt } from '../model.ts';

const explanations: Record<string, string> = {
  ENOENT: 'no such file or folder',
  EACCES: 'it may not be read',
  ELOOP: 'its symbolic links lead in a circle',
  EISDIR: 'it is a folder',
};

/** An errno code in words. */
export const explain = (errno: string): string => explanations[errno] ?? errno;

/** The fault of an input that cannot be read. */
export const unreadable = (file: string, why: string): Fault =>
  faultAt({ file }, 'CNI_GATE_INPUT_UNREADABLE', why);
