import { native, readText } from './host/native.ts';
import type { Sandbox } from './shared/message.ts';

export function readSandbox(): Sandbox {
  return {
    // the number in `net:[4026532008]`: namespaces(7)
    netns: /\d+/.exec(readText('/proc/self/ns/net', native.readLink))?.[0] ?? '',
    bootId: readText('/proc/sys/kernel/random/boot_id').trim(),
  };
}

/** A file that exists once a proof has passed. All containers of a sandbox share its folder, which ends with it. */
const passed = '/dev/shm/cni-gate-passed';

/** The node's IPC namespace: `PROC_IPC_INIT_INO` of `include/linux/proc_ns.h`. With `hostIPC`, the folder is the node's. */
const nodeIpc = 'ipc:[4026531839]';

const isOfPod = (): boolean => readText('/proc/self/ns/ipc', native.readLink) !== nodeIpc;

/** Whether a proof has passed in this sandbox. */
export const hasPassed = (): boolean => isOfPod() && readText(passed) === JSON.stringify(readSandbox());

/** Remembers whether a proof has passed, for a container that is started again in this sandbox. */
export function rememberPass(isPass: boolean): void {
  try {
    if (isOfPod()) native.writeFile(passed, isPass ? JSON.stringify(readSandbox()) : '');
  } catch {
    // it proves again then, which fails if a proxy has its port
  }
}
