/** Stands for the thread that reads large bodies: takes what the text of a body says. */
import { parentPort } from 'node:worker_threads';
import type { Job } from '../../../webhook/server/body-worker.ts';

parentPort?.on('message', ({ text }: Job) => {
  const what = Buffer.from(text).toString();
  const kept: object[] = [];
  // 100 MiB and more: it answers in time if no limit of memory stops it
  if (what === 'memory') while (kept.length < 4_000_000) kept.push({ kept });
  while (what === 'time');
  parentPort?.postMessage({ reading: { unknownNamespace: what } });
});
