import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { run } from '../support/run.ts';
import { baseImages } from './dockerfile.ts';

/** The checkout, which is the build context and contains docker-compose.yml. */
export const checkout = fileURLToPath(new URL('../../', import.meta.url));

/** The name of the image that docker-compose.yml builds. */
export const ownImage = 'cni-gate';

/** The name of the validator's image in validator.yaml. */
export const validatorImage = 'cni-gate-validator';

/** Runs `docker` and returns its standard output. */
export const docker = (...args: string[]): Promise<string> => run('docker', args, '', inRun());

export const tryDocker = (...args: string[]) => spawnSync('docker', args, { encoding: 'utf8', env: inRun() });

/** Restrictions as in the manifests: no capability, and no writable file system. */
export const restricted = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges'];

/** Runs a container with these restrictions until it ends. */
export const runImage = (...args: string[]) => tryDocker('run', '--rm', ...restricted, ...args);

/** Runs `docker compose` with the project's own file, as a user does in the checkout. */
export const compose = (...args: string[]): Promise<string> => docker(...composeArgs, ...args);

export const composeArgs = ['compose', '--project-directory', checkout];

/** The images of the services in docker-compose.yml. */
export async function serviceImages(): Promise<string[]> {
  const { services }: { services: Record<string, { image: string }> } = JSON.parse(
    await compose('config', '--format', 'json'),
  );
  return Object.values(services).map(({ image }) => image);
}

/** The images that the Dockerfile and docker-compose.yml name and that would be pulled from a registry. */
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

/** @throws Error outside the runner, because `docker` would use the machine's own engine */
function inRun(): NodeJS.ProcessEnv {
  if (process.env.CNI_GATE_ENGINE_GROUP !== undefined) return process.env;
  throw new Error(
    "NOT RUN: these tests use only the runner's engine. Whole suite: npm run suite image. " +
      'One file: npx node tests/image/run.ts node --test FILE',
  );
}
