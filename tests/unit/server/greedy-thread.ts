/** Replaces the thread that reads large bodies. The text of a body names the resource that the thread uses up. */
import { parentPort } from 'node:worker_threads';
import type { Job } from '../../../webhook/server/body-worker.ts';

parentPort?.on('message', ({ text }: Job) => {
  const what = Buffer.from(text).toString();
  const kept: object[] = [];
  // these objects take at least 100 MiB. The loop is finite, so without a memory limit the thread would end by itself
  if (what === 'memory') while (kept.length < 4_000_000) kept.push({ kept });
  while (what === 'time');
  parentPort?.postMessage({ reading: { unknownNamespace: what } });
});
