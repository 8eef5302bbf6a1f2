import { helmProgram } from './programs.ts';

/** Before the tests run: they have no network. */
await helmProgram.build();
