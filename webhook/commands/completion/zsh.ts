import { allCommands, type CompletedCommand, type CompletedOption, singleQuoted } from './model.ts';

/** The completion for zsh: a function for each command, which calls `_arguments`. */
export function zshCompletion(program: CompletedCommand): string {
  return `#compdef cni-gate
# zsh completion for cni-gate: source <(cni-gate completion zsh), or a file _cni-gate in $fpath
${allCommands(program).map(functionOf).join('\n')}
if [[ $funcstack[1] == _cni-gate ]]; then
  _cni_gate "$@"
else
  compdef _cni_gate cni-gate
fi
`;
}

const nameOf = ({ path }: CompletedCommand): string => `_${path.join('_').replaceAll('-', '_')}`;

function functionOf(command: CompletedCommand): string {
  const { options, commands, choices } = command;
  const specifications = options.map(specificationOf);
  if (commands.length === 0) {
    const argument = choices.length > 0 ? [singleQuoted(`1: :(${choices.join(' ')})`)] : [];
    return `${nameOf(command)}() {\n  _arguments -s ${[...specifications, ...argument].join(' ')}\n}`;
  }
  const described = commands.map((one) => singleQuoted(`${lastOf(one)}:${one.description}`));
  const cases = commands.map((one) => `        ${lastOf(one)}) ${nameOf(one)} ;;`);
  return `${nameOf(command)}() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C ${specifications.join(' ')} '1: :->command' '*:: :->rest'
  case $state in
    command)
      local -a commands=(${described.join(' ')})
      _describe command commands
      ;;
    rest)
      case $words[1] in
${cases.join('\n')}
      esac
      ;;
  esac
}`;
}

const lastOf = ({ path }: CompletedCommand): string => path.at(-1) ?? '';

/** A flag as `_arguments` reads it: `(-o --output)`, the flags, the text in brackets, and what may follow. */
function specificationOf({ flags, description, value, choices, variadic }: CompletedOption): string {
  const text = description.replace(/[[\]:\\]/g, '\\$&');
  const after = {
    none: '',
    choice: `: :(${choices.join(' ')})`,
    file: ': :_files',
    text: ': : ',
  }[value];
  const repeated = variadic ? '*' : '';
  // values until the next flag
  const several = variadic ? ':*-*' : '';
  return flags
    .map((flag) => {
      const others = variadic ? '' : `(${flags.join(' ')})`;
      return singleQuoted(`${others}${repeated}${flag}[${text}]${several}${after}`);
    })
    .join(' ');
}
