import { native, readText } from './host/native.ts';
import type { Sandbox } from './shared/message.ts';

export function readSandbox(): Sandbox {
  return {
    // the number in a text such as `net:[4026532008]`: namespaces(7)
    netns: /\d+/.exec(readText('/proc/self/ns/net', native.readLink))?.[0] ?? '',
    bootId: readText('/proc/sys/kernel/random/boot_id').trim(),
  };
}

/** The file that records in which sandbox a proof has passed. All containers of a sandbox share `/dev/shm`. */
const passed = '/dev/shm/cni-gate-passed';

/** The node's IPC namespace (`PROC_IPC_INIT_INO`, `include/linux/proc_ns.h`), which pods with `hostIPC` use. */
const nodeIpc = 'ipc:[4026531839]';

const isOfPod = (): boolean => readText('/proc/self/ns/ipc', native.readLink) !== nodeIpc;

/** Whether a proof has passed in this sandbox. */
export const hasPassed = (): boolean => isOfPod() && readText(passed) === JSON.stringify(readSandbox());

/** Records whether a proof has passed, for later runs of the container in this sandbox. */
export function rememberPass(isPass: boolean): void {
  try {
    if (isOfPod()) native.writeFile(passed, isPass ? JSON.stringify(readSandbox()) : '');
  } catch {
    // without the file, a restarted container repeats the proof: not possible if the proxy has the port
  }
}
