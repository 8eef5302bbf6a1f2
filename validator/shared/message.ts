/** The termination message of the init container: the validator writes it, and the webhook reads it. */

/** The verdict in one word. The words are as stable as the exit codes. */
export type VerdictWord = 'passed' | 'failed' | 'not-possible' | 'wrong-usage' | 'stopped';

/** The network namespace and boot of a verdict: a proof is valid for a sandbox, not for a pod. */
export interface Sandbox {
  /** Inode of the network namespace; numbers repeat after a reboot. */
  netns: string;
  bootId: string;
}

/** How a check ended. Texts of a long message are cut or left out. */
export interface CheckResult {
  profile?: string;
  check?: string;
  family?: string;
  passed: boolean;
  /** Of a check that did not pass. */
  reason?: string;
  expected?: string;
  seen?: string;
  /** What was not checked, and why. */
  note?: string;
}

/** One line of JSON. */
export interface TerminationMessage {
  verdict: VerdictWord;
  /** The exit code of the verdict, also where `mode` lets the program end with 0. */
  code: number;
  mode?: 'warn';
  sandbox: Sandbox;
  /** From the start of the process to the verdict. */
  seconds: number;
  /** A check passed although no answer of the node came (`roundTrip` with `mode: prefer`). */
  wayNotShown?: true;
  /** A problem other than a failed check: wrong usage, or a signal. */
  problem?: string;
  checks: CheckResult[];
  /** How many checks are left out. */
  more?: number;
}

/** What the message of a run says that has no verdict, because one has passed in its sandbox before. */
export type LaterMessage = Pick<TerminationMessage, 'sandbox' | 'problem'>;

/** Characters that are read. The kubelet reads 4096 bytes, and who may write a pod's status may write more. */
const longest = 65_536;

export type ReadMessage = Pick<TerminationMessage, 'wayNotShown' | 'problem' | 'checks'> & {
  /** NaN where it is no number. */
  code?: number;
};

/** Reads a message that may be any text: one that is no JSON says nothing, nor does a field of another type. */
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
