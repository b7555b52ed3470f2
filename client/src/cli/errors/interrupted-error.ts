/** The error of a command that Ctrl-C or another signal ended, and that has cleaned up. Exit code 130. */

export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
}
