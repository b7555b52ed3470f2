/** The exit codes of quoinctl, for scripts. */

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
