import { requireMachine } from './machine.ts';

/** Reports once, before all tests, if this machine cannot run them. */
await requireMachine().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
