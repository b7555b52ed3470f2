export { addCompletionCommand, answerShell, printCommands } from "./completion-command.ts";
