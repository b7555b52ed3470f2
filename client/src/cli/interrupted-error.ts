/** The error of a command that Ctrl-C ended while the terminal sends no signals for it. Exit code 130. */

export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
}
