/** `quoinctl key …`: API keys. */

import { type Command, Option } from "commander";
import { accountResult } from "./account-answers.ts";
import { parsePositiveCount } from "./count.ts";
import { readPages } from "./pages.ts";
import type { Session } from "./session.ts";

interface ListOptions {
  readonly all?: boolean;
  readonly user?: string;
  readonly revoked?: boolean;
}

/** Adds the commands to the program. */
export function addKeyCommands(program: Command, session: Session): void {
  const key = program.command("key").description("manage API keys");
  key
    .command("create <NAME>")
    .description("make an API key, which acts as you, and print it; it is shown this once")
    .addOption(
      new Option("--expires-in-days <DAYS>", "days that it is valid (default: no end)").argParser(parsePositiveCount),
    )
    .action(async (name: string, { expiresInDays }: { readonly expiresInDays?: number }) => {
      const client = await session.httpClient();
      const made = await client.ask("POST", "/keys", { name, expires_in_days: expiresInDays ?? null });
      session.print(accountResult(made, [made], ["api_key_id", "name", "key", "expires_at"]));
    });
  key
    .command("list")
    .description("list your API keys, without what is secret of them")
    .option("--all", "those of all users (needs the role admin)")
    .option("--user <USER-ID>", "those of this user (needs the role admin)")
    .option("--revoked", "also those that were revoked")
    .action(async ({ all, user, revoked }: ListOptions) => {
      const query = {
        ...(all === true ? { all: "true" } : {}),
        ...(user === undefined ? {} : { user_id: user }),
        ...(revoked === true ? { include_revoked: "true" } : {}),
      };
      const keys = await readPages(await session.httpClient(), "/keys", query, "keys");
      const fields = ["api_key_id", "name", "key_prefix", "created_at", "expires_at", "last_used_at"];
      session.print(accountResult({ keys }, keys, revoked === true ? [...fields, "revoked_at"] : fields));
    });
  key
    .command("revoke <KEY-ID>")
    .description("revoke an API key and all of its tokens, at once and for ever")
    .action(async (id: string) => {
      const revoked = await (await session.httpClient()).ask("DELETE", `/keys/${encodeURIComponent(id)}`);
      session.print(accountResult(revoked, [revoked], ["api_key_id", "revoked_at"]));
    });
}
