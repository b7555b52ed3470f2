export { answerShell, COMPLETION, printCommands } from "./completion-command.ts";
