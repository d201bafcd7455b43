/** `holdfast completion`: what a shell needs to complete commands and options, from their definitions. */
import { holdfast } from '../base/holdfast-command.ts';
import { Command } from 'commander';
import { TOPICS } from './commands.ts';
import type { Context } from './command/context.ts';
import { addExamples, usage } from './command/options.ts';

/** A command as shell completion needs it. */
export interface Completed {
  readonly name: string;
  readonly purpose: string;
  readonly options: readonly CompletedOption[];
  readonly commands: readonly Completed[];
}

export interface CompletedOption {
  /** `--json` and `-j`. */
  readonly names: readonly string[];
  readonly purpose: string;
  readonly takesValue: boolean;
}

const WRITERS: Readonly<Record<string, (commands: readonly Completed[]) => string>> = {
  bash: bashText,
  zsh: zshText,
  fish: fishText,
  powershell: powershellText,
};

export function define(command: Command, context: Context): void {
  command.argument('<shell>', 'bash, zsh, fish or powershell').action(async (shell: string) => {
    const write = Object.hasOwn(WRITERS, shell) ? WRITERS[shell] : undefined;
    if (write === undefined) throw usage('Unknown shell', 'Use bash, zsh, fish or powershell.');
    await context.out.write(write(await completedCommands(context)));
  });
  addExamples(command, [
    [`source <(${holdfast`completion bash`})`, 'in ~/.bashrc'],
    [`source <(${holdfast`completion zsh`})`, 'in ~/.zshrc, after compinit'],
    [holdfast`completion fish > ~/.config/fish/completions/holdfast.fish`, 'once'],
    [`${holdfast`completion powershell`} | Out-String | Invoke-Expression`, 'in $PROFILE, for PowerShell'],
  ]);
}

/** Every command, its options and the commands below it. */
export async function completedCommands(context: Context): Promise<readonly Completed[]> {
  const all: Completed[] = [];
  for (const entry of TOPICS.flatMap(({ commands }) => commands)) {
    const { name, purpose } = entry;
    const command = new Command(name).description(purpose).helpOption('-h, --help', 'Show this help');
    const module = await entry.load();
    module.define(command, context);
    all.push({ ...completed(command), purpose });
  }
  return all;
}

function completed(command: Command): Completed {
  const help = command.createHelp();
  return {
    name: command.name(),
    purpose: command.summary() || command.description(),
    options: help.visibleOptions(command).map(({ short, long, description, required, optional }) => ({
      names: [short, long].filter((name) => name !== undefined),
      purpose: description,
      takesValue: required || optional,
    })),
    commands: command.commands.map(completed),
  };
}

/** Each command and subcommand with the words that lead to it. */
function flat(commands: readonly Completed[], before = ''): readonly (readonly [string, Completed])[] {
  return commands.flatMap((command) => {
    const words = before === '' ? command.name : `${before} ${command.name}`;
    return [[words, command] as const, ...flat(command.commands, words)];
  });
}

function namesOf(options: readonly CompletedOption[]): readonly string[] {
  return options.flatMap(({ names }) => names);
}

function bashText(commands: readonly Completed[]): string {
  const cases = flat(commands).map(([words, { options, commands: below }]) => {
    const offered = [...below.map(({ name }) => name), ...namesOf(options)].join(' ');
    const values = namesOf(options.filter(({ takesValue }) => takesValue)).join('|');
    return `    '${words}') offered='${offered}'; values='${values}' ;;`;
  });
  const names = commands.map(({ name }) => name).join(' ');
  const groups = commands.filter(({ commands: below }) => below.length > 0).map(({ name }) => name);
  return `# Completion of holdfast for bash.
_holdfast() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command='' offered='' values='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${COMP_WORDS[at]}" in
      -*) ;;
      *)
        if [ -z "$command" ]; then command="\${COMP_WORDS[at]}"; else command="$command \${COMP_WORDS[at]}"; fi
        case "$command" in ${groups.length === 0 ? "''" : groups.join('|')}) ;; *) break ;; esac
        ;;
    esac
  done
  case "$command" in
    '') offered='${names} help --help --version' ;;
    help) offered='${names}' ;;
${cases.join('\n')}
  esac
  COMPREPLY=()
  case "$word" in -*) ;; *) case "|$values|" in *"|$previous|"*) return ;; esac ;; esac
  local found
  while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen -W "$offered" -- "$word")
}
complete -o default -o bashdefault -F _holdfast holdfast
`;
}

function zshText(commands: readonly Completed[]): string {
  const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const described = (name: string, purpose: string): string =>
    quote(`${name.replaceAll(':', String.raw`\:`)}:${purpose.replaceAll('\n', ' ')}`);
  const list = (below: readonly Completed[], options: readonly CompletedOption[]): string =>
    [
      ...below.map(({ name, purpose }) => described(name, purpose)),
      ...options.flatMap(({ names, purpose }) => names.map((name) => described(name, purpose))),
    ].join(' ');
  const cases = flat(commands).map(
    ([words, { options, commands: below }]) => `    ${quote(words)}) offered=(${list(below, options)}) ;;`,
  );
  const groups = commands.filter(({ commands: below }) => below.length > 0).map(({ name }) => name);
  return `#compdef holdfast
# Completion of holdfast for zsh.
_holdfast() {
  local -a offered
  local command='' at
  for ((at = 2; at < CURRENT; at++)); do
    [[ \${words[at]} == -* ]] && continue
    command="\${command:+$command }\${words[at]}"
    case "$command" in ${groups.length === 0 ? "''" : groups.join('|')}) ;; *) break ;; esac
  done
  case "$command" in
    ''|help) offered=(${list(commands, [])}) ;;
${cases.join('\n')}
  esac
  _describe 'holdfast' offered
  [[ \${words[CURRENT]} == -* ]] || _files
}
compdef _holdfast holdfast
# Loaded by itself, from where zsh looks for completions, the file is the function.
if [[ \${funcstack[1]} == _holdfast ]]; then _holdfast "$@"; fi
`;
}

function fishText(commands: readonly Completed[]): string {
  const quote = (text: string): string =>
    `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
  const all = commands.map(({ name }) => name).join(' ');
  const lines = commands.flatMap((command) => {
    const under = `-n '__fish_seen_subcommand_from ${command.name}'`;
    const belowNames = command.commands.map(({ name }) => name).join(' ');
    return [
      `complete -c holdfast -n 'not __fish_seen_subcommand_from ${all}' -a ${command.name} -d ${quote(command.purpose)}`,
      ...command.commands.map(
        ({ name, purpose }) =>
          `complete -c holdfast -n '__fish_seen_subcommand_from ${command.name}; and not __fish_seen_subcommand_from ${belowNames}' -a ${name} -d ${quote(purpose)}`,
      ),
      ...command.options.map((option) => fishOption(option, under, quote)),
      ...command.commands.flatMap(({ name, options }) => {
        const both = `-n '__fish_seen_subcommand_from ${command.name}; and __fish_seen_subcommand_from ${name}'`;
        return options.map((option) => fishOption(option, both, quote));
      }),
    ];
  });
  return `# Completion of holdfast for fish.\n${lines.join('\n')}\n`;
}

function fishOption(option: CompletedOption, under: string, quote: (text: string) => string): string {
  const names = option.names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  return `complete -c holdfast ${under} ${names.join(' ')}${option.takesValue ? ' -r' : ''} -d ${quote(option.purpose)}`;
}

/** Also quotes of typography end a text in PowerShell, unless they are doubled. */
const POWERSHELL_QUOTES = /['\u2018-\u201b]/g;

function powershellText(commands: readonly Completed[]): string {
  const quote = (text: string): string => `'${text.replaceAll(POWERSHELL_QUOTES, '$&$&')}'`;
  const list = (words: readonly string[]): string => `@(${words.map(quote).join(', ')})`;
  // The purpose is shown beside a word, and must not be empty.
  const offered = (name: string, purpose: string): string =>
    `${name}|${purpose.replaceAll('\n', ' ') || name}`;
  const offers = (below: readonly Completed[], options: readonly CompletedOption[]): string =>
    list([
      ...below.map(({ name, purpose }) => offered(name, purpose)),
      ...options.flatMap(({ names, purpose }) => names.map((name) => offered(name, purpose))),
    ]);
  const all = flat(commands);
  const words = all.map(
    ([name, { options, commands: below }]) => `    ${quote(name)} = ${offers(below, options)}`,
  );
  const values = all.map(
    ([name, { options }]) =>
      `    ${quote(name)} = ${list(namesOf(options.filter(({ takesValue }) => takesValue)))}`,
  );
  const groups = commands.filter(({ commands: below }) => below.length > 0).map(({ name }) => name);
  return `# Completion of holdfast for PowerShell 5 and newer.
Register-ArgumentCompleter -Native -CommandName @('holdfast', 'holdfast.cmd', 'holdfast.ps1') -ScriptBlock {
  param($word, $tree, $cursor)
  $offers = @{
    '' = ${offers(commands, [])}
    'help' = ${offers(commands, [])}
${words.filter((line) => !line.startsWith("    'help' =")).join('\n')}
  }
  $values = @{
${values.join('\n')}
  }
  $groups = ${list(groups)}
  $command = ''
  $previous = ''
  $isComplete = $false
  foreach ($element in @($tree.CommandElements | Select-Object -Skip 1)) {
    if ($element.Extent.EndOffset -ge $cursor) { break }
    $previous = "$element"
    if ($isComplete -or $previous.StartsWith('-')) { continue }
    $command = "$command $previous".Trim()
    $isComplete = $command -notin $groups
  }
  if (-not $word.StartsWith('-') -and $previous -in $values[$command]) { return }
  foreach ($offer in $offers[$command]) {
    $name, $purpose = $offer -split '\\|', 2
    if ($name.StartsWith($word, [StringComparison]::OrdinalIgnoreCase)) {
      [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', $purpose)
    }
  }
}
`;
}
