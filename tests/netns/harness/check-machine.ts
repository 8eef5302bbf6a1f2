import { requireMachine } from './machine.ts';

/** Says once, before any test, that this machine cannot run them. */
await requireMachine().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
