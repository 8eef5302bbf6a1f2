import schema from '../../webhook/config/configuration.schema.json' with { type: 'json' };

/** A part of the configuration's JSON Schema, with the keywords that it uses for types. */
interface Schema {
  $ref?: string;
  title?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  allOf?: Schema[];
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  maxProperties?: number;
}

const definitions: Record<string, Schema> = schema.definitions;

/**
 * The TypeScript types of a configuration that is parsed and has its defaults. The name of a type is the title of its
 * schema, or the name of its definition or field.
 */
export function configurationTypes(): string {
  const types = new Map<string, string>();
  const described = new Map<string, Schema['properties']>();

  /** @param key the name of the definition or field */
  const typeOf = (part: Schema, key: string): string => {
    if (part.$ref !== undefined) return reference(part.$ref.replace('#/definitions/', ''));
    if (part.allOf?.[0]) return typeOf(part.allOf[0], key);
    if (part.const !== undefined) return literal(part.const);
    if (part.enum) return part.enum.map(literal).join(' | ');
    // the schema allows an object or a list of such objects
    if (String(part.type) === 'object,array' && part.items) {
      const item = typeOf(part.items, key);
      return `${item} | ${item}[]`;
    }
    if (Array.isArray(part.type)) return part.type.map((type) => typeOf({ ...part, type }, key)).join(' | ');
    if (part.type === 'array') return `${typeOf(part.items ?? {}, key)}[]`;
    if (part.type === 'object') return object(part, key);
    return part.type === 'integer' ? 'number' : String(part.type);
  };

  const reference = (name: string): string => {
    const definition = definitions[name] ?? {};
    const isUnion = definition.enum !== undefined || Array.isArray(definition.type);
    if (!isUnion || definition.allOf) return typeOf(definition, name);
    const alias = pascal(name);
    return declare(alias, () => `type ${alias} = ${typeOf(definition, name)};`);
  };

  const object = (part: Schema, key: string): string => {
    const { additionalProperties: values, properties = {}, required = [] } = part;
    if (typeof values === 'object') return `Record<string, ${typeOf(values, key)}>`;
    const name = part.title ?? pascal(key);
    const fields = Object.entries(properties);
    if (types.has(name) && described.get(name) !== part.properties)
      throw new Error(`configuration.schema.json: two objects have the name ${name}: give one a title`);
    described.set(name, part.properties);
    return declare(name, () => {
      if (part.maxProperties === 1) {
        const choices = fields.map(([field, value]) => `\n  | { ${field}: ${typeOf(value, field)} }`);
        return `type ${name} =${choices.join('')};`;
      }
      const lines = fields.map(([field, value]) => {
        const isSet = value.default !== undefined || required.includes(field);
        const quoted = /\W/.test(field) ? `'${field}'` : field;
        return `  ${quoted}${isSet ? '' : '?'}: ${typeOf(value, field)};`;
      });
      return [`type ${name} = {`, ...lines, '};'].join('\n');
    });
  };

  const declare = (name: string, text: () => string): string => {
    if (types.has(name)) return name;
    // reserves the type's place in the output, and ends the recursion of a type that contains itself
    types.set(name, '');
    types.set(name, `export ${text()}`);
    return name;
  };

  object({ ...schema, title: 'ConfigurationFile' }, '');
  const header =
    '// Generated from webhook/config/configuration.schema.json, which describes it, by `npm run generate`.\n';
  return `${[header, ...types.values()].join('\n')}\n`;
}

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));

const pascal = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
