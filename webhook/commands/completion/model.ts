import type { Command, Option } from 'commander';

/** A command of the command line, as the completion of a shell knows it. */
export interface CompletedCommand {
  /** How it is called, from the program's name. */
  path: string[];
  description: string;
  options: CompletedOption[];
  /** The values of its argument, if it has one with choices. */
  choices: readonly string[];
  commands: CompletedCommand[];
}

/** A flag of a command. */
export interface CompletedOption {
  /** As it is written: `-o`, `--output`. */
  flags: string[];
  description: string;
  /** What may follow: nothing, one of some words, the name of a file, or any text. */
  value: 'none' | 'choice' | 'file' | 'text';
  choices: readonly string[];
  /** Whether several values may follow. */
  variadic: boolean;
}

/** What a program's commands and flags are, for {@link ../completion.ts}. */
export function completedCommand(command: Command, parents: readonly string[] = []): CompletedCommand {
  const path = [...parents, command.name()];
  const { visibleCommands, visibleOptions, visibleArguments } = helpOf(command);
  return {
    path,
    description: command.description(),
    options: visibleOptions.map(completedOption),
    choices: visibleArguments.flatMap(({ argChoices }) => argChoices ?? []),
    commands: visibleCommands.map((one) => completedCommand(one, path)),
  };
}

function helpOf(command: Command) {
  const help = command.createHelp();
  return {
    visibleCommands: help.visibleCommands(command).filter((one) => one.name() !== 'help'),
    visibleOptions: help.visibleOptions(command),
    visibleArguments: command.registeredArguments,
  };
}

/** Names of values in a flag's declaration that are files. */
const files = /<(?:file|path)(?:\.\.\.)?>/;

function completedOption(option: Option): CompletedOption {
  const { short, long, description, required, argChoices, variadic, flags } = option;
  const takesValue = required || option.optional;
  return {
    flags: [short, long].filter((flag) => flag !== undefined && flag !== null),
    description,
    value: !takesValue ? 'none' : argChoices ? 'choice' : files.test(flags) ? 'file' : 'text',
    choices: argChoices ?? [],
    variadic,
  };
}

/** A command and all below it. */
export const allCommands = (command: CompletedCommand): CompletedCommand[] => [
  command,
  ...command.commands.flatMap(allCommands),
];

/** A text as one word of a POSIX shell. */
export const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
