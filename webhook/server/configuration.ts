import { livePolicy, readPolicy } from '../config/load.ts';
import type { Policy } from '../config/policy.ts';
import { plugin } from './plugin.ts';

/** Options of the plugin {@link configuration}. */
export interface ConfigurationOptions {
  /** Configuration file, reloaded when it changes; the built-in defaults where there is none. */
  config?: string | undefined;
  /** Image to inject if the configuration names none; the image of this release where it is not given either. */
  image?: string | undefined;
  /** Profile of every namespace, instead of its label. */
  profile?: string | undefined;
}

/** The policy in force. */
export interface PolicyInForce {
  /** Read it for each request: a reload replaces it. */
  current(): Policy;
  /** Calls back after each reload. */
  onChange(changed: () => void): void;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Decorated by the plugin `configuration`. */
    policy: PolicyInForce;
  }
}

/**
 * Reads the configuration, and reloads it when its file changes.
 *
 * @throws CniGateError where the file cannot be used, and CNI_GATE_PROFILE_UNKNOWN where `profile` does not exist: the
 *   start fails, instead of each pod later
 */
export const configuration = plugin<ConfigurationOptions>('configuration', async (app, options) => {
  const { config, image, profile, deps } = options;
  const { onReload, ...listener } = deps.reload('configuration');
  const subscribers: (() => void)[] = [];
  let current: () => Policy;
  if (config === undefined) {
    const policy = readPolicy(undefined, image);
    current = () => policy;
  } else {
    const file = livePolicy(config, image, {
      ...listener,
      onReload: () => {
        for (const changed of subscribers) changed();
        onReload();
      },
    });
    app.addHook('onClose', async () => file.close());
    current = () => file.value;
  }
  if (profile !== undefined) current().combineProfiles(profile);
  app.decorate('policy', { current, onChange: (changed) => subscribers.push(changed) });
});
