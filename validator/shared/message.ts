/** The termination message of the init container: the validator writes it, and the webhook reads it. */

/** The verdict as a word, which is as stable as the exit codes. */
export type VerdictWord = 'passed' | 'failed' | 'not-possible' | 'wrong-usage' | 'stopped';

/** The network namespace and boot to which a verdict belongs: a proof is valid for a sandbox, not for a pod. */
export interface Sandbox {
  /** The inode of the network namespace. Numbers may repeat after a reboot. */
  netns: string;
  bootId: string;
}

/** The result of a check. If the message is too long, texts are shortened or left out. */
export interface CheckResult {
  profile?: string;
  check?: string;
  family?: string;
  passed: boolean;
  /** The reason why a check did not pass. */
  reason?: string;
  expected?: string;
  seen?: string;
  /** What was not checked, and why. */
  note?: string;
}

/** The termination message: one line of JSON. */
export interface TerminationMessage {
  verdict: VerdictWord;
  /** The exit code that belongs to the verdict, even if `mode` lets the process exit with 0. */
  code: number;
  mode?: 'warn';
  sandbox: Sandbox;
  /** Seconds from the start of the process to the verdict. */
  seconds: number;
  /** Set if a check passed although the node did not answer (`roundTrip` with `mode: prefer`). */
  wayNotShown?: true;
  /** A problem other than a failed check: wrong usage, or a signal. */
  problem?: string;
  checks: CheckResult[];
  /** The number of checks that are left out. */
  more?: number;
}

/** The message of a run without a verdict, because an earlier run has passed in this sandbox. */
export type LaterMessage = Pick<TerminationMessage, 'sandbox' | 'problem'>;

/** Longer messages are not read. The kubelet writes up to 4096 bytes, but users may write more into a status. */
const longest = 65_536;

export type ReadMessage = Pick<TerminationMessage, 'wayNotShown' | 'problem' | 'checks'> & {
  /** NaN if the message has a code that is not a number. */
  code?: number;
};

/** Reads a message. Other texts than JSON have no fields and no checks. Fields of wrong types are ignored. */
export function readMessage(text: string | null | undefined): ReadMessage {
  const { code, wayNotShown, problem, checks } = objectIn(text ?? '');
  return {
    ...(code !== undefined && { code: typeof code === 'number' ? code : Number.NaN }),
    ...(wayNotShown === true && { wayNotShown }),
    ...(typeof problem === 'string' && { problem }),
    checks: Array.isArray(checks) ? checks.flatMap(readResult) : [],
  };
}

function readResult(value: unknown): CheckResult[] {
  const { passed, ...fields } = recordOf(value);
  if (typeof passed !== 'boolean') return [];
  const texts = Object.entries(fields).filter(([, text]) => typeof text === 'string');
  return [{ ...Object.fromEntries(texts), passed }];
}

function objectIn(text: string): Record<string, unknown> {
  try {
    return text.length > longest ? {} : recordOf(JSON.parse(text));
  } catch {
    return {};
  }
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
