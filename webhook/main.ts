#!/usr/bin/env node
/**
 * The entry of `cni-gate`. The validator is a program of its own that has to start fast in every pod: nothing of
 * the other verbs is loaded for it.
 */
import { validateCommand } from '../validator/contract.ts';

await (process.argv[2] === validateCommand ? import('../validator/main.ts') : import('./cli.ts'));
