import { platform } from './platform.ts';

const stdout = 1;
const stderr = 2;

/** A line for the container's log. */
export const log = (text: string): void => write(stdout, text);

/** A line on standard error. */
export const complain = (text: string): void => write(stderr, text);

/** Writes the message for the kubelet. A failure to write says nothing about the network. */
export function leaveMessage(path: string, message: string): void {
  try {
    platform.writeFile(path, `${message}\n`);
  } catch (error) {
    complain(`cannot write the termination message to ${path}: ${(error as Error).message}`);
  }
}

function write(descriptor: 1 | 2, text: string): void {
  const bytes = platform.encode(`${text}\n`);
  let written = 0;
  // a full pipe gets a few more attempts, but the program does not wait for a log without a reader
  for (let tries = 0; written < bytes.length && tries < 1000; tries++) {
    try {
      written += platform.write(descriptor, bytes.subarray(written));
    } catch (error) {
      if ((error as { code?: string }).code !== 'EAGAIN') return;
    }
  }
}
