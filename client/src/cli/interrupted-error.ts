/** The error of a command that was told to end, by Ctrl-C, while a terminal sends no signals for it. Exit code 130. */

export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
}
