/** A workflow command, as a runner of GitHub Actions reads it from a line of a step's output. */
interface WorkflowCommand {
  name: string;
  properties: Record<string, string>;
  text: string;
}

/**
 * Reads a line as the runner does. A command is `::name key=value,key=value::text`, or `##[name]text` anywhere in a
 * line.
 *
 * Source: `ActionCommand.cs` of actions/runner, and the escapes of the toolkit.
 */
function workflowCommand(line: string): WorkflowCommand | undefined {
  const [, name, properties = '', text = ''] = /^\s*::([a-z-]+)(?: (.*?))?::(.*)$/s.exec(line) ?? [];
  if (name === undefined) {
    const [, older, rest = ''] = /##\[([a-z-]+)[^\]]*\](.*)$/s.exec(line) ?? [];
    return older === undefined ? undefined : { name: `##${older}`, properties: {}, text: rest };
  }
  const pairs = [...properties.matchAll(/([^,=]+)=([^,]*)/g)].map(([, key = '', value = '']) => [
    key.trim(),
    unescaped(value.replaceAll('%3A', ':').replaceAll('%2C', ',')),
  ]);
  return { name, properties: Object.fromEntries(pairs), text: unescaped(text) };
}

const unescaped = (text: string): string =>
  text.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');

/** The commands in an output, and its other lines that are not empty. */
export function commandsIn(output: string): { commands: WorkflowCommand[]; others: string[] } {
  const lines = output.split(/\r\n|[\n\r]/).filter((line) => line !== '');
  const commands = lines.map(workflowCommand);
  return {
    commands: commands.filter((command) => command !== undefined),
    others: lines.filter((_, at) => commands[at] === undefined),
  };
}
