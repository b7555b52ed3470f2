/** The options of `npm run bench -- sessions`. */

import { Command } from "commander";

export interface SessionsOptions {
  readonly sessions: number;
  readonly ttlSeconds: number;
  /** How long the renewals are measured. */
  readonly seconds: number;
  /** How often the leader is killed then. */
  readonly elections: number;
  /** Files for the tables as Markdown and for the figures as JSON; null = none. */
  readonly markdown: string | null;
  readonly json: string | null;
}

/** Half of what three members accept of one user, for each second of the time to live: elections delay renewals. */
const SESSIONS_PER_TTL_SECOND_MAX = 2_500;
/** One half ends, the other one stays. */
const SESSIONS_MIN = 2;

/** The command, which passes its options to `onOptions`. */
export function sessionsCommand(
  parseCount: (text: string) => number,
  onOptions: (options: SessionsOptions) => void,
): Command {
  const command = new Command("sessions")
    .description("measures renewals of many sessions, elections beside them, and their end together")
    .option("--sessions <count>", "sessions, each with one key", parseCount, 20_000)
    .option("--ttl-seconds <seconds>", "time to live of each, renewed at a third of it", parseCount, 10)
    .option("--seconds <seconds>", "duration of the renewals without elections", parseCount, 60)
    .option("--elections <count>", "kill the leader so often", parseCount, 10)
    .option("--markdown <file>", "write the tables as Markdown")
    .option("--json <file>", "write all figures as JSON");
  return command.action(() => {
    const { markdown, json, ...counts } = command.opts();
    const options = counts as Omit<SessionsOptions, "markdown" | "json">;
    const { sessions, ttlSeconds } = options;
    const most = ttlSeconds * SESSIONS_PER_TTL_SECOND_MAX;
    if (sessions < SESSIONS_MIN || sessions > most) {
      command.error(`error: option '--sessions <count>' must be ${SESSIONS_MIN} to ${most} with this time to live.`);
    }
    onOptions({ ...options, markdown: markdown ?? null, json: json ?? null });
  });
}
