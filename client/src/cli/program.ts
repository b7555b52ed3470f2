/** The command line: its options and commands, and the handling of errors. */

import { Command, CommanderError } from "commander";
import packageDescription from "../../package.json" with { type: "json" };
import { addOptions } from "./arguments/index.ts";
import { COMMAND_GROUPS } from "./command-groups.ts";
import { describeFailure, EXIT_CODES, InterruptedError, namingEndpoints } from "./errors/index.ts";
import { GLOBAL_OPTIONS, type GlobalOptions, Session } from "./session/index.ts";
import { requireUtf8, type Terminal } from "./terminal/index.ts";
import { escapeControls } from "./text/index.ts";

const AFTER_HELP = `
The cluster: --endpoints, else the context of --context, else QUOIN_ENDPOINTS, else the file QUOIN_ENDPOINTS_FILE, else
the context of QUOIN_CONTEXT or the current one, else .quoin/endpoints.json in this directory or above. Credentials:
--token-file or --api-key-file, else those of the first of these places that has some; in the environment they are
QUOIN_TOKEN or QUOIN_API_KEY.

Exit codes: 0 done, 1 refused by the service, 2 wrong usage, 3 unavailable, 4 not acquired or comparison failed, 130
interrupted by Ctrl-C; lock run and session run end with the exit code
of their command.

Examples:

  quoinctl kv put default/greeting hello
  quoinctl kv get default/greeting -o json
  quoinctl status --context production`;

/** After the help of each command. */
const SEE_GLOBAL_OPTIONS = "\nOptions of every command, such as -o json and --context, are in: quoinctl --help";

/** What the scripts of the shells run; it is not in the help. */
const COMPLETION_COMMAND = "__complete";

/** What the checks of the manual run; it is not in the help either. */
const LISTING_COMMAND = "__commands";

/**
 * Runs one command.
 *
 * @param parameters the arguments, without the names of Node and of the program.
 * @returns the exit code; all output has been printed.
 */
export async function run(parameters: readonly string[], terminal: Terminal): Promise<number> {
  const program: Command = new Command("quoinctl");
  const session = new Session(terminal, parameters, () => program.opts<GlobalOptions>());
  try {
    requireUtf8(parameters, terminal.readCommandLine);
    addGlobalOptions(program, session);
    if (parameters[0] === COMPLETION_COMMAND) {
      const { answerShell } = await import("./completion/index.ts");
      await answerShell(program, session, parameters.slice(1), (words) => addCommands(program, session, words));
      return EXIT_CODES.done;
    }
    if (parameters[0] === LISTING_COMMAND) {
      const { printCommands } = await import("./completion/index.ts");
      await addCommands(
        program,
        session,
        COMMAND_GROUPS.map(({ name }) => name),
      );
      printCommands(program, session);
      return EXIT_CODES.done;
    }
    await addCommands(program, session, parameters);
    await program.parseAsync(parameters, { from: "user" });
    return session.exitCode;
  } catch (error) {
    // Commander has already printed its message, or the help.
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.usage;
    }
    // The user who interrupted the command needs no message.
    if (error instanceof InterruptedError) {
      return EXIT_CODES.interrupted;
    }
    const { message, hint, exitCode } = describeFailure(namingEndpoints(error, session.endpoints));
    terminal.stderr.write(`quoinctl: ${message}\n`);
    if (hint !== undefined) {
      terminal.stderr.write(`hint: ${escapeControls(hint)}\n`);
    }
    return exitCode;
  }
}

function addGlobalOptions(program: Command, { terminal }: Session): void {
  program.description("Command line of Quoin, the coordination service").version(packageDescription.version);
  addOptions(program, GLOBAL_OPTIONS);
  program
    .addHelpText("after", AFTER_HELP)
    .addHelpText("afterAll", ({ command }) => (command === program ? "" : SEE_GLOBAL_OPTIONS))
    .showHelpAfterError("hint: add --help to see the usage")
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      // On one line, together with the suggestion of commander.
      outputError: (text, write) =>
        write(
          `${text
            .trim()
            .replace(/^error: /, "quoinctl: ")
            .replaceAll("\n", " ")}\n`,
        ),
    })
    .exitOverride();
}

/** Adds all commands, and completes those that the words name. */
async function addCommands(program: Command, session: Session, words: readonly string[]): Promise<void> {
  for (const { name, description, load } of COMMAND_GROUPS) {
    const command = program.command(name).description(description);
    if (words.includes(name)) {
      const complete = await load();
      complete(command, session);
    }
  }
}
