import { allCommands, type CompletedCommand, singleQuoted } from './model.ts';

/** The completion for bash 4.4 and later, without the package bash-completion. */
export function bashCompletion(program: CompletedCommand): string {
  const commands = allCommands(program);
  const below = commands.slice(1).map(({ path }) => singleQuoted(path.join(' ')));
  return `# bash completion for cni-gate: source <(cni-gate completion bash)
_cni_gate() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  # bash makes a word of each =
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  local command=cni-gate flag= index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$command \${COMP_WORDS[index]}" in
      ${below.join(' | ')}) command+=" \${COMP_WORDS[index]}" ;;
    esac
    if [[ \${COMP_WORDS[index]} == -?* ]]; then flag=\${COMP_WORDS[index]}; fi
  done
  local words=
  case "$command $previous" in
${values(commands, false)}
  esac
  if [[ $current != -* ]]; then
    case "$command $flag" in
${values(commands, true)}
    esac
  fi
  case $command in
${commands.map(wordsOf).join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
_cni_gate_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}
complete -F _cni_gate cni-gate
`;
}

/** The cases for values of flags. @param variadic for flags with several values, otherwise for all */
function values(commands: readonly CompletedCommand[], variadic: boolean): string {
  const cases = commands.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value, choices, variadic: several }) => {
      if (value === 'none' || (variadic && !several)) return [];
      const patterns = flags.map((flag) => singleQuoted(`${path.join(' ')} ${flag}`)).join(' | ');
      if (value === 'file') return [`${patterns}) _cni_gate_files "$current"; return ;;`];
      if (value === 'text') return [`${patterns}) COMPREPLY=(); return ;;`];
      const words = singleQuoted(choices.join(' '));
      return [`${patterns}) mapfile -t COMPREPLY < <(compgen -W ${words} -- "$current"); return ;;`];
    }),
  );
  return cases.map((line) => `    ${variadic ? '  ' : ''}${line}`).join('\n');
}

function wordsOf({ path, options, commands, choices }: CompletedCommand): string {
  const words = [
    ...commands.map((one) => one.path.at(-1) ?? ''),
    ...choices,
    ...options.flatMap(({ flags }) => flags),
  ];
  return `    ${singleQuoted(path.join(' '))}) words=${singleQuoted(words.join(' '))} ;;`;
}
