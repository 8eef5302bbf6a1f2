import { LiveFiles, type LiveFilesOptions, readText } from '../lib/live-files.ts';
import { defaultConfiguration, parseConfiguration } from './load.ts';
import { Policy } from './policy.ts';

/**
 * Returns the policy of a configuration file, or of the built-in defaults if no file is given.
 *
 * @param image the image to inject if the file names none; absent: this release's image
 */
export function readPolicy(path: string | undefined, image?: string): Policy {
  return new Policy(
    path === undefined
      ? defaultConfiguration(image)
      : parseConfiguration(readText(path, 'CNI_GATE_CONFIG_UNREADABLE'), path, image),
  );
}

/**
 * Returns the policy of a configuration text that is not from a file.
 *
 * @param source for messages
 */
export const parsePolicy = (text: string, source: string): Policy =>
  new Policy(parseConfiguration(text, source));

/** The policy of a configuration file, recreated when the file changes. */
export function livePolicy(
  path: string,
  image: string | undefined,
  options: Pick<LiveFilesOptions<Policy>, 'onReload' | 'onError' | 'interval'>,
): LiveFiles<Policy> {
  return new LiveFiles({
    ...options,
    paths: [path],
    unreadable: 'CNI_GATE_CONFIG_UNREADABLE',
    parse: ([text = '']) => new Policy(parseConfiguration(text, path, image)),
  });
}
