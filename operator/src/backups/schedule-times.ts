/** When a schedule is due. */
import { Cron } from "croner";
import type { ScheduleSpec } from "../generated/coordination-backup-schedule.ts";

export interface ScheduleTimes {
  /** The newest run after the first time, up to and with the second; null if there is none. Milliseconds since 1970. */
  readonly latest: (afterMs: number, untilMs: number) => number | null;
  /** The first run after this time; null if there is none. */
  readonly next: (afterMs: number) => number | null;
}

/** @returns the times, or why the schedule is none, for people */
export function timesOf({ schedule, timeZone }: ScheduleSpec): ScheduleTimes | string {
  if (!isTimeZone(timeZone)) {
    return `spec.timeZone ${timeZone} is no time zone of the IANA database, such as Europe/Berlin`;
  }
  let cron: Cron;
  try {
    cron = new Cron(schedule, { timezone: timeZone, paused: true, mode: "5-part" });
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).replace(/^CronPattern: /, "");
    return `spec.schedule ${schedule} is no schedule of cron: ${why}`;
  }
  const next = (afterMs: number): number | null => cron.nextRun(new Date(afterMs))?.getTime() ?? null;
  if (next(Date.UTC(2000, 0, 1)) === null) {
    return `spec.schedule ${schedule} never comes: no month has that day`;
  }
  return {
    next,
    latest: (afterMs, untilMs) => {
      // A run is before the time that is asked for: one at the very end counts, too.
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
