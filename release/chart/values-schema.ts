import configuration from '../../webhook/config/configuration.schema.json' with { type: 'json' };
import values from './values.schema.json' with { type: 'json' };

/**
 * The JSON Schema of the chart's values, with that of the configuration in it. A release gives only what differs from
 * the defaults, so no field of the configuration's top level is required. Helm's regular expressions have no
 * lookahead: a pattern with one is left out, and cni-gate itself refuses what it excludes.
 */
export function valuesSchema(): string {
  const { $schema: _schema, $id: _id, required: _required, definitions, ...part } = configuration;
  const properties = { ...values.properties, configuration: part };
  const withoutLookahead = (key: string, value: unknown): unknown =>
    key === 'pattern' && typeof value === 'string' && value.includes('(?') ? undefined : value;
  return `${JSON.stringify({ ...values, properties, definitions }, withoutLookahead, 2)}\n`;
}
