import { Ajv } from 'ajv';
import type { ConfigurationFile, Profile } from '../core/profiles/types.ts';
import schema from './configuration.schema.json' with { type: 'json' };

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  useDefaults: true,
  allowUnionTypes: true,
  // keeps the source of the compiled schemas, which replaces this file in the bundle: release/compiled-schemas.ts
  code: { source: true },
});

/** Validate a configuration or a profile against the published JSON Schema, and fill in its defaults. */
export const validateConfiguration = ajv.compile<ConfigurationFile>(schema);
export const validateProfile = ajv.compile<Profile>({ $ref: `${schema.$id}#/definitions/profile` });
