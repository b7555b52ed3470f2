/** `quoinctl usage`: what was used. */

import { type Command, Option } from "commander";
import type { UsageOptions } from "../index.ts";
import { accountResult } from "./account-result.ts";
import type { Session } from "./session.ts";

interface UsageCommandOptions extends Pick<UsageOptions, "from" | "to"> {
  readonly by: NonNullable<UsageOptions["granularity"]>;
}

const fields = [
  ...(["startMs", "requests", "eventsAppended", "bytesAppended", "kvOperations", "lockOperations"] as const),
  ...(["memoryOperations", "bytesStored", "memoryBytes"] as const),
];

/** Adds the command to the program. */
export function addUsageCommand(program: Command, session: Session): void {
  program
    .command("usage")
    .description("what was used of the cluster, by hour or day; by API key with -o json")
    .option("--from <TIME>", "from this day or instant, such as 2030-01-31 (default: the beginning of the month)")
    .option("--to <TIME>", "until this day or instant (default: now)")
    .addOption(new Option("--by <UNIT>", "how to divide it").choices(["hour", "day"]).default("day"))
    .action(async ({ from, to, by: granularity }: UsageCommandOptions) => {
      const usage = await session.withClient((client) => client.usage.read({ from, to, granularity }));
      session.print(accountResult(usage, usage.buckets, fields));
    });
}
