import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The parts of action.yml that the tests need. */
interface Action {
  inputs: Record<string, { required: boolean; default?: string }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: Step[] };
}

interface Step {
  id?: string;
  name: string;
  shell: string;
  env: Record<string, string>;
  run: string;
}

/** The result of an action. */
export interface ActionEnded {
  /** The exit code of the last step that ran. */
  status: number | null;
  /** Standard output and error of each step, by the step's name: a runner shows both in one log. */
  logs: Record<string, string>;
  outputs: Record<string, string>;
  summary: string;
}

/** Runs a composite action as GitHub's runner does (Metadata syntax for GitHub Actions). */
export function runAction(
  path: string,
  { workspace, inputs, skip = [] }: { workspace: string; inputs: Record<string, string>; skip?: string[] },
): ActionEnded {
  const action: Action = parse(readFileSync(join(path, 'action.yml'), 'utf8'));
  if (action.runs.using !== 'composite') throw new Error(`expected a composite action: ${action.runs.using}`);
  for (const name of Object.keys(inputs)) {
    if (!Object.hasOwn(action.inputs, name)) throw new Error(`the action has no input ${name}`);
  }
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-action-'));
  try {
    const files = { GITHUB_OUTPUT: join(folder, 'output'), GITHUB_STEP_SUMMARY: join(folder, 'summary') };
    const values: Record<string, string> = { 'github.action_path': path };
    for (const [name, input] of Object.entries(action.inputs)) {
      values[`inputs.${name}`] = inputs[name] ?? input.default ?? '';
    }
    const evaluated = (text: string): string =>
      text.replace(/\$\{\{ *([\w.-]+) *\}\}/g, (_, expression: string) => values[expression] ?? '');
    const ended: ActionEnded = { status: 0, logs: {}, outputs: {}, summary: '' };
    for (const step of action.runs.steps) {
      if (skip.includes(step.name)) continue;
      if (step.shell !== 'bash') throw new Error(`expected bash: ${step.shell}`);
      if (step.run.includes('${{'))
        throw new Error(`${step.name}: text of a script is made from an expression`);
      const script = join(folder, 'script.sh');
      writeFileSync(script, step.run);
      for (const file of Object.values(files)) writeFileSync(file, '');
      const env = Object.entries(step.env).map(([name, text]) => [name, evaluated(text)]);
      const { status, stdout, stderr } = spawnSync(
        'bash',
        ['--noprofile', '--norc', '-eo', 'pipefail', script],
        {
          cwd: workspace,
          encoding: 'utf8',
          env: {
            ...process.env,
            GITHUB_ACTIONS: 'true',
            GITHUB_WORKSPACE: workspace,
            ...files,
            ...Object.fromEntries(env),
          },
        },
      );
      ended.status = status;
      ended.logs[step.name] = stdout + stderr;
      ended.summary += readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8');
      for (const line of readFileSync(files.GITHUB_OUTPUT, 'utf8').split('\n').filter(Boolean)) {
        const at = line.indexOf('=');
        if (at < 0) throw new Error(`not an output: ${line}`);
        values[`steps.${step.id}.outputs.${line.slice(0, at)}`] = line.slice(at + 1);
      }
      if (status !== 0) break;
    }
    for (const [name, { value }] of Object.entries(action.outputs)) ended.outputs[name] = evaluated(value);
    return ended;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
