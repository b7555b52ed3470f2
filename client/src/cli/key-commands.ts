/** `quoinctl key …`: API keys. */

import { type Command, Option } from "commander";
import { accountResult, allOf } from "./account-result.ts";
import { parsePositiveCount } from "./count.ts";
import type { Session } from "./session.ts";

interface ListOptions {
  readonly all?: boolean;
  readonly user?: string;
  readonly revoked?: boolean;
}

/** The largest page of the service, because listings are read to their end. */
const pageSize = 1_000;
const shownFields = ["apiKeyId", "name", "keyPrefix", "createdAtMs", "expiresAtMs", "lastUsedAtMs"] as const;

/** Adds the commands to the program. */
export function addKeyCommands(program: Command, session: Session): void {
  const key = program.command("key").description("manage API keys");
  key
    .command("create <NAME>")
    .description("create an API key, which acts for you, and print it; it is shown only once")
    .addOption(
      new Option("--expires-in-days <DAYS>", "days that it is valid (default: no end)").argParser(parsePositiveCount),
    )
    .action(async (name: string, { expiresInDays }: { readonly expiresInDays?: number }) => {
      const made = await session.withClient((client) => client.keys.create(name, { expiresInDays }));
      session.print(accountResult(made, [made], ["apiKeyId", "name", "key", "expiresAtMs"]));
    });
  key
    .command("list")
    .description("list your API keys, without their secret parts")
    .option("--all", "those of all users whose role and namespaces you have (needs the role admin)")
    .option("--user <USER-ID>", "those of this user, whose role and namespaces you have (needs the role admin)")
    .option("--revoked", "also revoked keys")
    .action(async ({ all, user: userId, revoked: includeRevoked = false }: ListOptions) => {
      const options = { all, userId, includeRevoked, pageSize };
      const keys = await session.withClient((client) => allOf(client.keys.pages(options)));
      session.print(accountResult({ keys }, keys, includeRevoked ? [...shownFields, "revokedAtMs"] : shownFields));
    });
  key
    .command("revoke <KEY-ID>")
    .description("revoke an API key and all of its tokens, at once and for ever")
    .action(async (id: string) => {
      const revoked = await session.withClient((client) => client.keys.revoke(id));
      session.print(accountResult(revoked, [revoked], ["apiKeyId", "revokedAtMs"]));
    });
}
