/** Run times of a schedule. */
import { Cron } from "croner";
import type { ScheduleSpec } from "../generated/coordination-backup-schedule.ts";

export interface ScheduleTimes {
  /** The latest run in (afterMs, untilMs], in milliseconds since 1970; null if there is none. */
  readonly latest: (afterMs: number, untilMs: number) => number | null;
  /** The first run after this time, in milliseconds since 1970; null if there is none. */
  readonly next: (afterMs: number) => number | null;
}

/** @returns the times, or a message for people why the schedule is invalid */
export function timesOf({ schedule, timeZone }: ScheduleSpec): ScheduleTimes | string {
  if (!isTimeZone(timeZone)) {
    return `spec.timeZone ${timeZone} is not a time zone of the IANA database, such as Europe/Berlin`;
  }
  let cron: Cron;
  try {
    cron = new Cron(schedule, { timezone: timeZone, paused: true, mode: "5-part" });
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).replace(/^CronPattern: /, "");
    return `spec.schedule ${schedule} is not a cron schedule: ${why}`;
  }
  const next = (afterMs: number): number | null => cron.nextRun(new Date(afterMs))?.getTime() ?? null;
  if (next(Date.UTC(2000, 0, 1)) === null) {
    return `spec.schedule ${schedule} never runs: no month has that day`;
  }
  return {
    next,
    latest: (afterMs, untilMs) => {
      // croner returns runs before the given time, but a run exactly at the end counts, too.
      const [run] = cron.previousRuns(1, new Date(untilMs + 1_000));
      const time = run?.getTime() ?? Number.NEGATIVE_INFINITY;
      return time > afterMs && time <= untilMs ? time : null;
    },
  };
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
