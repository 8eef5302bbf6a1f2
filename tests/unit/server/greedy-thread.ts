/** Stands for the thread that reads large bodies: takes what the text of a body says. */
import { parentPort } from 'node:worker_threads';
import type { Job } from '../../../webhook/server/body-worker.ts';

parentPort?.on('message', ({ text }: Job) => {
  const what = Buffer.from(text).toString();
  const kept: object[] = [];
  while (what !== 'neither') if (what === 'memory') kept.push({ kept });
  parentPort?.postMessage({ reading: { unknownNamespace: what } });
});
