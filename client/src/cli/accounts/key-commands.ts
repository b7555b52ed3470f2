/** `quoinctl key …`: API keys. */

import { flag, option } from "../arguments/index.ts";
import { command, commandGroup, itemsOf, PAGE_SIZE_MAX } from "../session/index.ts";
import { parsePositiveCount } from "../text/index.ts";
import { findApiKeyId, findUserId } from "./account-argument.ts";
import { accountResult } from "./account-result.ts";

const SHOWN_FIELDS = ["apiKeyId", "name", "keyPrefix", "createdAtMs", "expiresAtMs", "lastUsedAtMs"] as const;

const CREATE = command("create <NAME>", {
  description: "create an API key, which acts for you, and print it; it is shown only once",
  options: {
    expiresInDays: option("<DAYS>", "days that it is valid (default: no end)", parsePositiveCount),
  },
  run: async (session, name, { expiresInDays }) => {
    const made = await session.withClient((client) => client.keys.create(name, { expiresInDays }));
    await session.print(accountResult(made, [made], ["apiKeyId", "name", "key", "expiresAtMs"]));
  },
});

const LIST = command("list", {
  description: "list your API keys, without their secret parts",
  options: {
    all: flag("those of all users whose role and namespaces you have (needs the role admin)"),
    user: option("<USER>", "those of this user, given by e-mail address or id (needs the role admin)"),
    revoked: flag("also revoked keys"),
  },
  run: async (session, { all, user, revoked: includeRevoked = false }) => {
    const keys = await session.withClient(async (client) => {
      const userId = user === undefined ? undefined : await findUserId(client, user);
      return itemsOf(client.keys.pages({ all, userId, includeRevoked, pageSize: PAGE_SIZE_MAX }), (page) => page);
    });
    await session.print(
      accountResult({ keys }, keys, includeRevoked ? [...SHOWN_FIELDS, "revokedAtMs"] : SHOWN_FIELDS),
    );
  },
});

const REVOKE = command("revoke <API-KEY>", {
  description: "revoke an API key, given by id, name or prefix, and all of its tokens, at once and for ever",
  run: async (session, text) => {
    const revoked = await session.withClient(async (client) => client.keys.revoke(await findApiKeyId(client, text)));
    await session.print(accountResult({ revoked: true, ...revoked }, [revoked], ["apiKeyId", "revokedAtMs"]));
  },
});

/** The commands of the group. */
export const API_KEY_COMMANDS = commandGroup(
  "\nExamples:\n\n  quoinctl key create ci --expires-in-days 90\n  quoinctl key revoke ci",
  [CREATE, LIST, REVOKE],
);
