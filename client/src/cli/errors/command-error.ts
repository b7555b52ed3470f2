/** The errors that a command raises itself, and the exit codes of quoinctl. */

/** The exit codes, for scripts. */
export const EXIT_CODES = {
  /** Success. */
  done: 0,
  /** The service refused, or an unexpected error occurred. */
  refused: 1,
  /** The command line, the environment or a file is invalid; nothing was sent. */
  usage: 2,
  /** No member answered, or none in time. */
  unavailable: 3,
  /** A lock was not acquired, or a comparison failed: kv cas, or an expected revision, version or membership. */
  notAsExpected: 4,
  /** Ended by Ctrl-C, and by other signals if the command cleans up first; shells use this code for SIGINT. */
  interrupted: 130,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

/** Raised for an invalid command line, file or environment. Nothing was sent. Exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** What to do about it; undefined = the message is enough. */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** Raised by a command that Ctrl-C or another signal ended, and that has cleaned up. Exit code 130. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
}

/** Raised by a command that has printed its answer, if the answer is not the expected one. */
export class NotAsExpectedError extends Error {
  override readonly name = "NotAsExpectedError";
}

/** Raised by a command that finds no object with a name; `reason` is that of the service. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Raised by a command that fails for its own reason, such as a full disk. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}
