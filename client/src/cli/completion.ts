/**
 * Completion scripts for shells, generated from the commands. A script follows the words of the line through the
 * commands. It offers the possible next commands and options, the values of an option with choices, and otherwise file
 * names.
 */

import type { Command, Option } from "commander";

/** A command, with everything that may follow it. */
interface CompletionPoint {
  /** The words that lead to it, such as `quoinctl kv put`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly Option[];
}

/** The script for a program, by shell. */
export const completionScripts: ReadonlyMap<string, (program: Command) => string> = new Map([
  ["bash", bashScript],
  ["zsh", zshScript],
  ["fish", fishScript],
]);

function bashScript(program: Command): string {
  return `# Completion of quoinctl for bash.
_quoinctl() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" so_far="${program.name()}" index
  for ((index = 1; index < COMP_CWORD; index++)); do
${followWord("    ", `\${COMP_WORDS[index]}`, program)}
  done
${offer("  ", program, (words) => `COMPREPLY=($(compgen -W ${quote(words.join(" "))} -- "$current"))`)}
}
complete -o default -F _quoinctl quoinctl
`;
}

function zshScript(program: Command): string {
  return `#compdef quoinctl
# Completion of quoinctl for zsh.
_quoinctl() {
  local previous="\${words[CURRENT-1]}" so_far="${program.name()}" index
  for ((index = 2; index < CURRENT; index++)); do
${followWord("    ", `\${words[index]}`, program)}
  done
${offer("  ", program, (words) => `compadd -- ${words.map(quote).join(" ")}`)}
  (( compstate[nmatches] )) || _files
}
compdef _quoinctl quoinctl
`;
}

/** Follows a word of the line if it is a command there. */
function followWord(indent: string, word: string, program: Command): string {
  return [`case "$so_far ${word}" in`, `  ${quotedCommands(program).join("|")}) so_far="$so_far ${word}" ;;`, "esac"]
    .map((line) => `${indent}${line}`)
    .join("\n");
}

/** Offers what may follow the words so far. */
function offer(indent: string, program: Command, offerWords: (words: readonly string[]) => string): string {
  const lines = ['case "$so_far $previous" in'];
  for (const point of completionPoints(program)) {
    for (const { flags, choices } of choicesOf(point)) {
      for (const flag of flags) lines.push(`  ${quote(`${point.path} ${flag}`)}) ${offerWords(choices)}; return ;;`);
    }
  }
  lines.push("esac", 'case "$so_far" in');
  for (const point of completionPoints(program)) {
    const words = [...point.commands.map(({ name }) => name), ...point.options.flatMap(flagsOf)];
    lines.push(`  ${quote(point.path)}) ${offerWords(words)} ;;`);
  }
  lines.push("esac");
  return lines.map((line) => `${indent}${line}`).join("\n");
}

function fishScript(program: Command): string {
  const lines = [
    "# Completion of quoinctl for fish.",
    "function __quoinctl_path",
    `  set -l path ${program.name()}`,
    "  for word in (commandline -opc)[2..]",
    '    switch "$path $word"',
    `      case ${quotedCommands(program).join(" ")}`,
    '        set path "$path $word"',
    "    end",
    "  end",
    '  test "$path" = "$argv"',
    "end",
  ];
  for (const { path, commands, options } of completionPoints(program)) {
    const start = `complete -c quoinctl -n ${quote(`__quoinctl_path ${path}`)}`;
    for (const { name, description } of commands) lines.push(`${start} -f -a ${name} -d ${quote(description)}`);
    for (const { short, long, description, required, argChoices } of options) {
      const flags = [short && `-s ${short.slice(1)}`, long && `-l ${long.slice(2)}`].filter(Boolean).join(" ");
      const value = argChoices === undefined ? (required ? " -r" : "") : ` -x -a ${quote(argChoices.join(" "))}`;
      lines.push(`${start} ${flags}${value} -d ${quote(description)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** All commands with the words that lead to them. */
function quotedCommands(program: Command): string[] {
  const [, ...commands] = completionPoints(program);
  return commands.map(({ path }) => quote(path));
}

/** The program and all its commands, each before its subcommands; global options are allowed everywhere. */
function completionPoints(program: Command): CompletionPoint[] {
  const visit = (command: Command, path: string): CompletionPoint[] => {
    const help = command.createHelp();
    const commands = help.visibleCommands(command).filter((one) => command.commands.includes(one));
    const own = help.visibleOptions(command);
    const point = {
      path,
      commands: commands.map((one) => ({ name: one.name(), description: one.description() })),
      options: command === program ? own : [...own, ...program.options.filter(({ long }) => long !== "--version")],
    };
    return [point, ...commands.flatMap((one) => visit(one, `${path} ${one.name()}`))];
  };
  return visit(program, program.name());
}

function choicesOf({
  options,
}: CompletionPoint): { readonly flags: readonly string[]; readonly choices: readonly string[] }[] {
  return options.flatMap((option) =>
    option.argChoices === undefined ? [] : [{ flags: flagsOf(option), choices: option.argChoices }],
  );
}

function flagsOf({ short, long }: Option): string[] {
  return [short, long].filter((flag) => flag !== undefined);
}

/** Quotes a word so that no shell splits it. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
