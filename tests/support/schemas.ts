import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';

/** A JSON Schema, with the fields that {@link strict} reads. */
type Schema = Record<string, unknown>;

const read = (name: string): Schema =>
  JSON.parse(readFileSync(new URL(`../../schemas/${name}.json`, import.meta.url), 'utf8'));

/** Returns a function that lists the parts of a value that a published schema forbids or does not describe. */
export function schemaFaults(name: string): (value: unknown) => string[] {
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, formats: { 'date-time': isTime } });
  const validate = ajv.compile(strict(read(name)) as Schema);
  return (value) =>
    validate(value) ? [] : (validate.errors ?? []).map((one) => `${one.instancePath}: ${one.message}`);
}

const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);

/** The schema, changed so that it forbids all fields that it does not describe. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strict(value)]));
  const closes = 'properties' in schema && 'type' in schema && !('additionalProperties' in schema);
  return closes ? { ...inner, additionalProperties: false } : inner;
}
