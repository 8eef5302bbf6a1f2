/** How a value of the chart becomes part of an object. */
export interface Placeholder {
  /** Unique. */
  name: string;
  /**
   * `scalar`: one value. `text`: a block of text. `block`: a list or map, left out while the value is empty. `entries`:
   * what is added to a list or map that the manifests have.
   */
  form: 'scalar' | 'text' | 'block' | 'entries';
  /** Go template expression. */
  expression: string;
}

/** Stands for the value in an object: text that YAML writes without quotes, and that no manifest contains. */
export const placeholder = ({ name }: Placeholder): string => `⟦${name}⟧`;

/**
 * Turns a line of YAML into lines of a Go template: a placeholder becomes an action, and the braces of another
 * template language, as in alerts, stay as they are.
 *
 * @throws Error if the line has a placeholder that is not among those given
 */
export function templateLines(line: string, placeholders: readonly Placeholder[]): string[] {
  const found = /^( *)(.*?)⟦(\w+)⟧/.exec(line);
  if (found === null) return [line.replaceAll('{{', '{{ "{{" }}')];
  const [, indent = '', key = '', name] = found;
  const value = placeholders.find((one) => one.name === name);
  if (value === undefined) throw new Error(`There is no placeholder ${name}.`);
  const { form, expression } = value;
  const inner = indent.length + 2;
  switch (form) {
    case 'scalar':
      return [`${indent}${key}{{ ${expression} }}`];
    case 'text':
      return [`${indent}${key}|`, `${indent}  {{- ${expression} | nindent ${inner} }}`];
    case 'block':
      return [
        `${indent}{{- with ${expression} }}`,
        `${indent}${key.trimEnd()}`,
        `${indent}  {{- toYaml . | nindent ${inner} }}`,
        `${indent}{{- end }}`,
      ];
    case 'entries':
      return [
        `${indent}{{- with ${expression} }}`,
        `${indent}{{- toYaml . | nindent ${indent.length} }}`,
        `${indent}{{- end }}`,
      ];
  }
}
