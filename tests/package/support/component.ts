import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';

/** The result of a job. */
export interface JobEnded {
  status: number | null;
  log: string;
  /** Paths of the reports that the job declares, by kind. */
  reports: Record<string, string>;
}

/** Runs the only job of a GitLab component as a runner does (CI/CD YAML syntax reference). */
export function runComponent(
  file: string,
  {
    project,
    inputs,
    env,
  }: { project: string; inputs: Record<string, string | boolean>; env: NodeJS.ProcessEnv },
): JobEnded {
  const [head, body] = parseAllDocuments(readFileSync(file, 'utf8'));
  const declared: Record<string, { default?: unknown }> = head?.toJS().spec.inputs;
  for (const name of Object.keys(inputs)) {
    if (!Object.hasOwn(declared, name)) throw new Error(`the component has no input ${name}`);
  }
  const inputOf = (name: string): string => {
    const value = inputs[name] ?? declared[name]?.default;
    if (value === undefined) throw new Error(`input ${name} has no value`);
    return String(value);
  };
  const filled = JSON.stringify(body?.toJS()).replace(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, name: string) =>
    JSON.stringify(inputOf(name)).slice(1, -1),
  );
  const [job] = Object.values<{
    variables: Record<string, string>;
    script: string[];
    artifacts: { reports: Record<string, string> };
  }>(parse(filled));
  if (job === undefined) throw new Error('the component has no job');
  const { status, stdout, stderr } = spawnSync('bash', ['-eo', 'pipefail'], {
    cwd: project,
    input: job.script.map((line) => `${line}\n`).join(''),
    encoding: 'utf8',
    env: { ...process.env, CI_PROJECT_DIR: project, ...env, ...job.variables },
  });
  return { status, log: stdout + stderr, reports: job.artifacts.reports };
}
