/** `quoinctl key …`: API keys. */

import { type Command, Option } from "commander";
import type { Session } from "../session/index.ts";
import { parsePositiveCount } from "../text/index.ts";
import { findApiKeyId, findUserId } from "./account-argument.ts";
import { accountResult, allOf } from "./account-result.ts";

interface ListOptions {
  readonly all?: boolean;
  readonly user?: string;
  readonly revoked?: boolean;
}

/** The largest page of the service, because listings are read to their end. */
const PAGE_SIZE = 1_000;
const SHOWN_FIELDS = ["apiKeyId", "name", "keyPrefix", "createdAtMs", "expiresAtMs", "lastUsedAtMs"] as const;

/** Adds the commands to their group. */
export function addKeyCommands(key: Command, session: Session): void {
  key.addHelpText("after", "\nExamples:\n\n  quoinctl key create ci --expires-in-days 90\n  quoinctl key revoke ci");
  key
    .command("create <NAME>")
    .description("create an API key, which acts for you, and print it; it is shown only once")
    .addOption(
      new Option("--expires-in-days <DAYS>", "days that it is valid (default: no end)").argParser(parsePositiveCount),
    )
    .action(async (name: string, { expiresInDays }: { readonly expiresInDays?: number }) => {
      const made = await session.withClient((client) => client.keys.create(name, { expiresInDays }));
      await session.print(accountResult(made, [made], ["apiKeyId", "name", "key", "expiresAtMs"]));
    });
  key
    .command("list")
    .description("list your API keys, without their secret parts")
    .option("--all", "those of all users whose role and namespaces you have (needs the role admin)")
    .option("--user <USER>", "those of this user, given by e-mail address or id (needs the role admin)")
    .option("--revoked", "also revoked keys")
    .action(async ({ all, user, revoked: includeRevoked = false }: ListOptions) => {
      const keys = await session.withClient(async (client) => {
        const userId = user === undefined ? undefined : await findUserId(client, user);
        return allOf(client.keys.pages({ all, userId, includeRevoked, pageSize: PAGE_SIZE }));
      });
      await session.print(
        accountResult({ keys }, keys, includeRevoked ? [...SHOWN_FIELDS, "revokedAtMs"] : SHOWN_FIELDS),
      );
    });
  key
    .command("revoke <API-KEY>")
    .description("revoke an API key, given by id, name or prefix, and all of its tokens, at once and for ever")
    .action(async (text: string) => {
      const revoked = await session.withClient(async (client) => client.keys.revoke(await findApiKeyId(client, text)));
      await session.print(accountResult({ revoked: true, ...revoked }, [revoked], ["apiKeyId", "revokedAtMs"]));
    });
}
