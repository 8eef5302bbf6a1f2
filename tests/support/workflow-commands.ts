/** A workflow command, as a runner of GitHub Actions reads it from a line of a step's output. */
export interface WorkflowCommand {
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
export function workflowCommand(line: string): WorkflowCommand | undefined {
  const match = /^\s*::(?<name>[a-z-]+)(?: (?<properties>.*?))?::(?<text>.*)$/s.exec(line);
  if (match?.groups === undefined) {
    const older = /##\[(?<name>[a-z-]+)[^\]]*\](?<text>.*)$/s.exec(line);
    return older?.groups && { name: `##${older.groups.name}`, properties: {}, text: older.groups.text ?? '' };
  }
  const { name = '', properties = '', text = '' } = match.groups;
  const pairs = properties.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at < 0 ? [] : [[pair.slice(0, at).trim(), unescaped(pair.slice(at + 1), true)]];
  });
  return { name, properties: Object.fromEntries(pairs), text: unescaped(text, false) };
}

function unescaped(text: string, property: boolean): string {
  const rest = property ? text.replaceAll('%3A', ':').replaceAll('%2C', ',') : text;
  return rest.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
}

export function commandsIn(output: string): { commands: WorkflowCommand[]; others: string[] } {
  const commands: WorkflowCommand[] = [];
  const others: string[] = [];
  for (const line of output.split(/\r\n|[\n\r]/)) {
    const command = workflowCommand(line);
    if (command !== undefined) commands.push(command);
    else if (line !== '') others.push(line);
  }
  return { commands, others };
}
