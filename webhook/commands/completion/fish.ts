import { allCommands, type CompletedCommand, type CompletedOption } from './model.ts';

/** The completion for fish: a line for each command and flag. */
export function fishCompletion(program: CompletedCommand): string {
  const lines = allCommands(program).flatMap((command) => {
    const condition = conditionOf(command);
    return [
      ...command.commands.map(
        (one) => `${condition} -f -a ${quoted(one.path.at(-1) ?? '')} -d ${quoted(one.description)}`,
      ),
      ...(command.choices.length > 0 ? [`${condition} -f -a ${quoted(command.choices.join(' '))}`] : []),
      ...command.options.map((option) => `${condition}${flagOf(option)}`),
    ];
  });
  return `# fish completion for cni-gate: cni-gate completion fish | source\n${lines.join('\n')}\n`;
}

/** The words before say which command it is: those of its path, and none of a command below it. */
function conditionOf({ path, commands }: CompletedCommand): string {
  const [, ...words] = path;
  const below = commands.map((one) => one.path.at(-1)).join(' ');
  const conditions = [
    ...words.map((word) => `__fish_seen_subcommand_from ${word}`),
    ...(below === '' ? [] : [`not __fish_seen_subcommand_from ${below}`]),
  ];
  return `complete -c cni-gate${conditions.length === 0 ? '' : ` -n ${quoted(conditions.join('; and '))}`}`;
}

function flagOf({ flags, description, value, choices }: CompletedOption): string {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? ` -l ${flag.slice(2)}` : ` -s ${flag.slice(1)}`,
  );
  const after = {
    none: '',
    choice: ` -x -a ${quoted(choices.join(' '))}`,
    file: ' -r -F',
    text: ' -x',
  }[value];
  return `${names.join('')}${after} -d ${quoted(description)}`;
}

/** A text in single quotes of fish, in which a backslash escapes itself and a quote. */
const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
