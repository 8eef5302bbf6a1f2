/** Durations are written the same in the configuration and in what the validator is told. */
export { parseDuration } from '../../validator/duration.ts';
