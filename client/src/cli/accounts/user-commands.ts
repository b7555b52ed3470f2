/** `quoinctl user …`, for administrators, and for users who have no password yet or have forgotten it. */

import type { Client, UserInfo, UserRole } from "../../index.ts";
import { choice, option } from "../arguments/index.ts";
import { readPasswordFile } from "../prompts/index.ts";
import { command, commandGroup, itemsOf, PAGE_SIZE_MAX, type Session } from "../session/index.ts";
import { parseList } from "../text/index.ts";
import { findUserId } from "./account-argument.ts";
import { accountResult } from "./account-result.ts";

const ROLES = ["viewer", "member", "admin", "owner"] satisfies UserRole[];
const ALL_NAMESPACES = "*";
const STATUSES = ["active", "disabled"] as const;
const SHOWN_FIELDS = ["userId", "email", "role", "namespaces", "status", "createdAtMs"] as const;

const NAMESPACES_OPTION = option(
  "<LIST>",
  "namespaces of the user, separated by commas; * = all",
  (text) => parseList(text) ?? [],
);
const PASSWORD_OPTION = option("<FILE>", "file with the password, of 8 to 1,024 bytes");

const AFTER_HELP = `
Examples:

  quoinctl user create eve@example.com --namespaces default,team-a --role viewer
  quoinctl user update eve@example.com --status disabled
  quoinctl user reset-password eve@example.com
  quoinctl user verify TOKEN --password-file FILE`;

const CREATE = command("create <EMAIL>", {
  description: "create a user, who gets a mail to verify the address, and to set a password if none is given",
  options: {
    role: choice("<ROLE>", "the rights of the user", ROLES).byDefault("member"),
    namespaces: NAMESPACES_OPTION.mandatory(),
    passwordFile: PASSWORD_OPTION,
  },
  run: async (session, email, { role, namespaces, passwordFile }) => {
    const made = { role, namespaces, password: await readPassword(passwordFile) };
    await session.withClient(async (client) => {
      await print(session, await client.users.create(email, made));
      await warnOfMissing(session, client, namespaces);
    });
  },
});

const LIST = command("list", {
  description: "list the users whose role and namespaces you have",
  run: async (session) => {
    const users = await session.withClient((client) =>
      itemsOf(client.users.pages({ pageSize: PAGE_SIZE_MAX }), (page) => page),
    );
    await session.print(accountResult({ users }, users, SHOWN_FIELDS));
  },
});

const DESCRIBE = command("describe <USER>", {
  description: "describe a user, given by e-mail address or id",
  run: async (session, text) => {
    await print(session, await session.withClient(async (client) => client.users.get(await findUserId(client, text))));
  },
});

const UPDATE = command("update <USER>", {
  description: "change a user, given by e-mail address or id, or your own password; other fields stay",
  options: {
    role: choice("<ROLE>", "the rights of the user", ROLES),
    namespaces: NAMESPACES_OPTION,
    status: choice("<STATUS>", "whether the user has any access", STATUSES),
    passwordFile: PASSWORD_OPTION,
    currentPasswordFile: option("<FILE>", "file with your current password, to change your own"),
  },
  run: async (session, text, { passwordFile, currentPasswordFile, ...changes }) => {
    const password = await readPassword(passwordFile);
    const currentPassword = await readPassword(currentPasswordFile);
    const wanted = { ...changes, password, currentPassword };
    await session.withClient(async (client) => {
      await print(session, await client.users.update(await findUserId(client, text), wanted));
      await warnOfMissing(session, client, changes.namespaces ?? []);
    });
  },
});

/**
 * Warns of namespaces that do not exist: a user may have them, but often the name is misspelled. It never fails: what it
 * cannot find out is left out.
 */
async function warnOfMissing(session: Session, client: Client, names: readonly string[]): Promise<void> {
  const exist = (name: string) =>
    client.keyValue.listNamespaces({ prefix: name, namesOnly: true, pageSize: 1 }).then(
      // Names come in their order, so the name itself is before longer ones.
      ({ namespaces }) => namespaces[0]?.name === name,
      () => true,
    );
  const found = await Promise.all(names.map((name) => name === ALL_NAMESPACES || exist(name)));
  for (const [at, name] of names.entries()) {
    if (found[at] !== true) {
      session.warn(`namespace ${name} does not exist yet; create it with: quoinctl namespace create ${name}`);
    }
  }
}

const DELETE = command("delete <USER>", {
  description: "delete a user, given by e-mail address or id, with all API keys and tokens of the user",
  run: async (session, text) => {
    const userId = await session.withClient(async (client) => {
      const id = await findUserId(client, text);
      await client.users.delete(id);
      return id;
    });
    const deleted = { userId, deleted: true };
    await session.print(accountResult(deleted, [deleted], ["userId", "deleted"]));
  },
});

const VERIFY = command("verify <TOKEN>", {
  description: "verify an address, or replace a forgotten password, with the token of a mail; needs no login",
  options: { passwordFile: PASSWORD_OPTION },
  run: async (session, token, { passwordFile }) => {
    const password = await readPassword(passwordFile);
    const place = await session.findPlace({ mayLackContext: true });
    const { verifyEmail } = await import("../../index.ts");
    await verifyEmail({ token, password, ...place, timeoutMs: session.timeoutMs });
    await session.print({ document: { verified: true }, shown: Buffer.from("the user can log in\n") });
  },
});

const RESET_PASSWORD = command("reset-password <EMAIL>", {
  description: "mail a token for a new password to a user; needs no login",
  run: async (session, email) => {
    const place = await session.findPlace({ mayLackContext: true });
    const { requestPasswordReset } = await import("../../index.ts");
    await requestPasswordReset({ email, ...place, timeoutMs: session.timeoutMs });
    const shown = Buffer.from("if this is the address of an active user, a mail with a token is on the way\n");
    await session.print({ document: { requested: true }, shown });
  },
});

/** The commands of the group. */
export const USER_COMMANDS = commandGroup(AFTER_HELP, [CREATE, LIST, DESCRIBE, UPDATE, DELETE, VERIFY, RESET_PASSWORD]);

async function print(session: Session, user: UserInfo): Promise<void> {
  await session.print(accountResult(user, [user], SHOWN_FIELDS));
}

async function readPassword(file: string | undefined): Promise<string | undefined> {
  return file === undefined ? undefined : readPasswordFile(file);
}
