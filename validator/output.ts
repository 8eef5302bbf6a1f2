import { codeOf, native } from './host/native.ts';

/** A line for the container's log. */
export const log = (text: string): void => write(1, text);

/** Writes the message for the kubelet. A failure to write says nothing about the network. */
export function leaveMessage(path: string, message: string): void {
  try {
    native.writeFile(path, `${message}\n`.toWellFormed());
  } catch (error) {
    write(2, `cannot write the termination message to ${path}: ${codeOf(error)}`);
  }
}

/** Writes a line to standard output (1) or standard error (2). */
function write(descriptor: 1 | 2, text: string): void {
  let bytes = native.encode(`${text}\n`.toWellFormed());
  // a full pipe gets a few more attempts, but the program does not wait for a log without a reader
  for (let tries = 0; bytes.length > 0 && tries < 1000; tries++) {
    try {
      // a native function sees the whole buffer of a part
      bytes = bytes.slice(native.write(descriptor, bytes));
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') return;
    }
  }
}
