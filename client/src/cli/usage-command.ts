/** `quoinctl usage`: what was used. */

import { type Command, Option } from "commander";
import { accountResult, objectsIn } from "./account-answers.ts";
import type { Session } from "./session.ts";

interface UsageOptions {
  readonly from?: string;
  readonly to?: string;
  readonly by: string;
}

const fields = [
  ...["start", "requests", "events_appended", "bytes_appended", "kv_operations", "lock_operations"],
  ...["memory_operations", "bytes_stored", "memory_bytes"],
];

/** Adds the command to the program. */
export function addUsageCommand(program: Command, session: Session): void {
  program
    .command("usage")
    .description("what was used of the cluster, by hour or day; by API key with -o json")
    .option("--from <TIME>", "from this day or instant, such as 2030-01-31 (default: the beginning of the month)")
    .option("--to <TIME>", "until this day or instant (default: now)")
    .addOption(new Option("--by <UNIT>", "how to divide it").choices(["hour", "day"]).default("day"))
    .action(async ({ from, to, by }: UsageOptions) => {
      const query = new URLSearchParams({ granularity: by });
      if (from !== undefined) query.set("from", from);
      if (to !== undefined) query.set("to", to);
      const usage = await (await session.httpClient()).ask("GET", `/billing/usage?${query}`);
      session.print(accountResult(usage, objectsIn(usage, "buckets"), fields));
    });
}
