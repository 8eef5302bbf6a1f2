import { LiveFiles, type LiveFilesOptions, readText } from '../lib/live-files.ts';
import { defaultConfiguration, parseConfiguration } from './load.ts';
import { Policy } from './policy.ts';

/**
 * The policy of a configuration file, or of the built-in defaults where no file is named.
 *
 * @param image what is injected where the file names no image; this release's where it is not given either
 */
export function readPolicy(path: string | undefined, image?: string): Policy {
  return new Policy(
    path === undefined
      ? defaultConfiguration(image)
      : parseConfiguration(readText(path, 'CNI_GATE_CONFIG_UNREADABLE'), path, image),
  );
}

/**
 * The policy of a configuration that was found elsewhere than in a file.
 *
 * @param source for messages
 */
export const parsePolicy = (text: string, source: string): Policy =>
  new Policy(parseConfiguration(text, source));

/** The policy of a configuration file, made anew when the file changes. */
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
