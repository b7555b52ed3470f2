/** The exit codes of quoinctl, for scripts. */

export const exitCodes = {
  /** Done. */
  done: 0,
  /** The service refused, or something unexpected happened. */
  refused: 1,
  /** The command line, the environment or a file cannot be used; nothing was sent. */
  usage: 2,
  /** No member answered, or not in time. */
  unavailable: 3,
  /** A lock was not acquired, or a comparison failed: kv cas, or a revision, version or membership that was expected. */
  notAsExpected: 4,
  /** Ended by Ctrl-C where it is no signal but read as input: what shells say of a command that SIGINT has ended. */
  interrupted: 130,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
