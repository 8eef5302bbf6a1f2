/** Replaces the thread that reads large bodies. The text of a body names the resource that the thread uses up. */
import { parentPort } from 'node:worker_threads';
import type { Job } from '../../../webhook/server/body-worker.ts';

parentPort?.on('message', ({ text }: Job) => {
  const what = Buffer.from(text).toString();
  const kept: object[] = [];
  // these objects take 100 MiB or more; the loop ends in time unless a memory limit ends the thread first
  if (what === 'memory') while (kept.length < 4_000_000) kept.push({ kept });
  while (what === 'time');
  parentPort?.postMessage({ reading: { unknownNamespace: what } });
});
