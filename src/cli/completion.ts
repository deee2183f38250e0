/** Scripts that complete commands, options and their choices in a shell, made from the table of options. */
import type { Command } from './command.js';
import type { Option } from './option.js';
import { options } from './options.js';
import { optionsOf } from './read-call.js';

export const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

export const completionScript = (shell: Shell, commands: readonly Command[]): string =>
  ({ bash, zsh, fish })[shell](commands);

interface Taken {
  readonly words: readonly string[];
  readonly meaning: string;
  readonly choices: readonly string[];
  readonly takesValue: boolean;
}

function takenBy(command: Command): Taken[] {
  return optionsOf(command).map(name => {
    const { flag, short, meaning, choices = [], valueName }: Option<unknown> = options[name];
    return {
      words: [`--${flag}`, ...(short ? [`-${short}`] : [])],
      meaning,
      choices: name === 'format' ? (command.formats ?? []) : choices,
      takesValue: valueName !== undefined,
    };
  });
}

/** First words, and second words where a command has two. */
function firstWords(commands: readonly Command[]): Map<string, string[]> {
  const words = new Map<string, string[]>();
  for (const { name } of commands) {
    const [first, second] = name.split(' ');
    words.set(first, [...(words.get(first) ?? []), ...(second ? [second] : [])]);
  }
  return words;
}

const groupsOf = (commands: readonly Command[]) =>
  [...firstWords(commands)].filter(([, second]) => second.length > 0);

/** Files where nothing else is known: most arguments are files. */
function bash(commands: readonly Command[]): string {
  const groups = groupsOf(commands);
  const cases = commands.map(command => {
    const taken = takenBy(command);
    const chosen = taken
      .filter(({ choices }) => choices.length > 0)
      .map(({ words, choices }) => `        ${words.join('|')}) choices="${choices.join(' ')}" ;;`);
    const values = taken.filter(({ takesValue, choices }) => takesValue && choices.length === 0);
    return `    '${command.name}')
      words="${[...taken.flatMap(({ words }) => words), '--help'].join(' ')}"
      case "$before" in
${chosen.join('\n')}
        ${['--', ...values.flatMap(({ words }) => words)].join('|')}) words='' ;;
      esac
      ;;`;
  });
  return `# Completion of stepscope for bash: eval "$(stepscope completion bash)"
_stepscope() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  local command="\${COMP_WORDS[1]}" words='' choices='' seconds=''
  COMPREPLY=()
  case "$command" in
${groups.map(([first, second]) => `    ${first}) seconds='${second.join(' ')}' ;;`).join('\n')}
  esac
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '${[...firstWords(commands).keys()].join(' ')} help' -- "$current"))
    return
  fi
  if [[ $COMP_CWORD -eq 2 && -n $seconds ]]; then COMPREPLY=($(compgen -W "$seconds" -- "$current")); fi
  if [[ $COMP_CWORD -gt 2 && " $seconds " == *" \${COMP_WORDS[2]} "* ]]; then command+=" \${COMP_WORDS[2]}"; fi
  case "$command" in
${cases.join('\n')}
  esac
  if [[ -n $choices ]]; then COMPREPLY=($(compgen -W "$choices" -- "$current"))
  elif [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); fi
}
complete -o default -o bashdefault -F _stepscope stepscope
`;
}

/** bash's function does for zsh too, through zsh's own emulation of it. */
function zsh(commands: readonly Command[]): string {
  return `# Completion of stepscope for zsh: eval "$(stepscope completion zsh)"
autoload -U +X compinit && compinit -u
autoload -U +X bashcompinit && bashcompinit
${bash(commands).split('\n').slice(1).join('\n')}`;
}

function fish(commands: readonly Command[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const seen = (name: string) => {
    const [first, second] = name.split(' ');
    const others = groupsOf(commands).find(([group]) => group === first)?.[1] ?? [];
    if (second) return `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
    const apart = others.length > 0 ? `; and not __fish_seen_subcommand_from ${others.join(' ')}` : '';
    return `__fish_seen_subcommand_from ${first}${apart}`;
  };
  const lines = [...firstWords(commands)].flatMap(([first, second]) => {
    const summary = commands.find(({ name }) => name === first)?.summary ?? second.join(', ');
    return [
      `complete -c stepscope -n __fish_use_subcommand -a ${first} -d ${quoted(summary)}`,
      ...second.map(word => `complete -c stepscope -n '__fish_seen_subcommand_from ${first}' -a ${word}`),
    ];
  });
  const taken = commands.flatMap(command =>
    takenBy(command).map(({ words: [long, short], meaning, choices, takesValue }) =>
      [
        `complete -c stepscope -n '${seen(command.name)}' -l ${long.slice(2)}`,
        ...(short ? [`-s ${short.slice(1)}`] : []),
        ...(takesValue ? ['-r'] : []),
        ...(choices.length > 0 ? [`-a ${quoted(choices.join(' '))}`] : []),
        `-d ${quoted(meaning)}`,
      ].join(' '),
    ),
  );
  return `# Completion of stepscope for fish: stepscope completion fish | source\n${[...lines, ...taken].join('\n')}\n`;
}
