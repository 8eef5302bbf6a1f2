import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The result of a script. The log is standard output and error, as a runner shows them. */
interface Ended {
  status: number | null;
  log: string;
}

/** Runs a script as the runners do. */
export function bash(script: string, cwd: string, env: NodeJS.ProcessEnv): Ended {
  const { status, stdout, stderr } = spawnSync('bash', ['-eo', 'pipefail', '-c', script], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, log: stdout + stderr };
}

type Inputs = Record<string, string>;
type Declared = Record<string, { default?: unknown }>;

/** The inputs with their defaults. @throws Error for an unknown input */
function withDefaults(declared: Declared, inputs: Inputs): Inputs {
  const unknown = Object.keys(inputs).filter((name) => !Object.hasOwn(declared, name));
  if (unknown.length > 0) throw new Error(`there is no input ${unknown}`);
  return Object.fromEntries(
    Object.entries(declared).map(([name, { default: value = '' }]) => [name, inputs[name] ?? String(value)]),
  );
}

/** The parts of action.yml that the tests need. */
interface Action {
  inputs: Declared;
  outputs: Record<string, { value: string }>;
  runs: { steps: { id?: string; name: string; env: Record<string, string>; run: string }[] };
}

/** Runs a composite action as GitHub's runner does (Metadata syntax for GitHub Actions), without the steps `skip`. */
export function runAction(
  path: string,
  { workspace, inputs, skip = [] }: { workspace: string; inputs: Inputs; skip?: string[] },
): Ended & { outputs: Record<string, string>; summary: string } {
  const action: Action = parse(readFileSync(join(path, 'action.yml'), 'utf8'));
  const values: Record<string, string> = { 'github.action_path': path };
  for (const [name, value] of Object.entries(withDefaults(action.inputs, inputs)))
    values[`inputs.${name}`] = value;
  const evaluated = (text: string): string =>
    text.replace(/\$\{\{ *([\w.-]+) *\}\}/g, (_, expression: string) => values[expression] ?? '');
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-action-'));
  const [output, summary] = [join(folder, 'output'), join(folder, 'summary')];
  for (const file of [output, summary]) writeFileSync(file, '');
  try {
    let ended: Ended = { status: 0, log: '' };
    for (const { id, env, run } of action.runs.steps.filter(({ name }) => !skip.includes(name))) {
      if (run.includes('${{')) throw new Error(`text of a script is made from an expression: ${run}`);
      const own = Object.entries(env).map(([name, text]) => [name, evaluated(text)]);
      const files = { GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary };
      ended = bash(run, workspace, { GITHUB_WORKSPACE: workspace, ...files, ...Object.fromEntries(own) });
      for (const [, name, value = ''] of readFileSync(output, 'utf8').matchAll(/^(.+?)=(.*)$/gm))
        values[`steps.${id}.outputs.${name}`] = value;
      if (ended.status !== 0) break;
    }
    const outputs = Object.entries(action.outputs).map(([name, { value }]) => [name, evaluated(value)]);
    return { ...ended, outputs: Object.fromEntries(outputs), summary: readFileSync(summary, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
