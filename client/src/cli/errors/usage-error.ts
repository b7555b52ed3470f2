/** The error of an invalid command line, file or environment. Nothing was sent. Exit code 2. */

export class UsageError extends Error {
  override readonly name = "UsageError";
  /** What to do about it; undefined = the message is enough. */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}
