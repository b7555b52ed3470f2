/** `quoinctl completion`: prints a shell script that completes the commands and options of this version. */

import { Argument, type Command } from "commander";
import { completionScripts } from "./completion.ts";
import type { Session } from "./session.ts";

const afterHelp = `
bash: add to ~/.bashrc:                   source <(quoinctl completion bash)
zsh:  add to ~/.zshrc, after compinit:    source <(quoinctl completion zsh)
fish: quoinctl completion fish > ~/.config/fish/completions/quoinctl.fish`;

/** Adds the command to the program. */
export function addCompletionCommand(program: Command, session: Session): void {
  program
    .command("completion")
    .addArgument(new Argument("<SHELL>").choices([...completionScripts.keys()]))
    .description("print a completion script for a shell")
    .addHelpText("after", afterHelp)
    .action((shell: string) => {
      session.terminal.stdout.write(completionScripts.get(shell)?.(program) ?? "");
    });
}
