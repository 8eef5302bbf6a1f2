import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { run } from '../support/run.ts';
import { baseImages } from './dockerfile.ts';

/** The checkout: the build context, and where docker-compose.yml is. */
export const checkout = fileURLToPath(new URL('../../', import.meta.url));

/** The name that docker-compose.yml gives to the image that it builds. */
export const ownImage = 'cni-gate';

/** The name that validator.yaml gives to the validator's image. */
export const validatorImage = 'cni-gate-validator';

/** Runs `docker` to its end and returns what it wrote to its standard output. */
export const docker = (...args: string[]): Promise<string> => run('docker', args, '', inRun());

export const tryDocker = (...args: string[]) => spawnSync('docker', args, { encoding: 'utf8', env: inRun() });

/** As the manifests run it: no capability, nothing to write to. */
export const restricted = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges'];

/** `docker run` to the container's end, restricted as the manifests do. */
export const runImage = (...args: string[]) => tryDocker('run', '--rm', ...restricted, ...args);

/** `docker compose` for the project's own file, as a user runs it in the checkout. */
export const compose = (...args: string[]): Promise<string> => docker(...composeArgs, ...args);

export const composeArgs = ['compose', '--project-directory', checkout];

/** Images by the services of docker-compose.yml. */
export async function serviceImages(): Promise<string[]> {
  const { services }: { services: Record<string, { image: string }> } = JSON.parse(
    await compose('config', '--format', 'json'),
  );
  return Object.values(services).map(({ image }) => image);
}

/** What a registry would be asked for: each image that the Dockerfile and docker-compose.yml name. */
export async function namedImages(): Promise<string[]> {
  const images = new Set([...baseImages(), ...(await serviceImages())]);
  images.delete(ownImage);
  return [...images];
}

export const buildServer = (): Promise<string> => compose('build', '--quiet');

export const buildValidator = (): Promise<string> =>
  docker(
    'compose',
    '--file',
    fileURLToPath(new URL('./validator.yaml', import.meta.url)),
    'build',
    '--quiet',
  );

/** @throws Error outside the runner, where the engine would be the machine's own */
function inRun(): NodeJS.ProcessEnv {
  if (process.env.CNI_GATE_ENGINE_GROUP !== undefined) return process.env;
  throw new Error(
    'NOT RUN: these tests run beside the engine of the runner only. Whole suite: npm run suite image. ' +
      'One file: npx node tests/image/run.ts node --test FILE',
  );
}
