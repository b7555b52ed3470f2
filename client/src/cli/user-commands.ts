/** `quoinctl user …`, for administrators. */

import { type Command, Option } from "commander";
import type { UserChanges, UserInfo, UserRole } from "../index.ts";
import { accountResult, allOf } from "./account-result.ts";
import { parseList } from "./list.ts";
import { readPasswordFile } from "./password.ts";
import type { Session } from "./session.ts";

const roles = ["viewer", "member", "admin", "owner"] satisfies UserRole[];
const statuses = ["active", "disabled"];
/** The largest page of the service, because listings are read to their end. */
const pageSize = 1_000;
const shownFields = ["userId", "email", "role", "namespaces", "status", "createdAtMs"] as const;

interface CreateOptions {
  readonly role: UserRole;
  readonly namespaces: readonly string[];
  readonly passwordFile?: string;
}

interface UpdateOptions extends Omit<UserChanges, "password" | "currentPassword"> {
  readonly passwordFile?: string;
  readonly currentPasswordFile?: string;
}

/** Adds the commands to the program. */
export function addUserCommands(program: Command, session: Session): void {
  const user = program.command("user").description("manage users (needs the role admin, except for your own password)");
  addCreate(user, session);
  addList(user, session);
  addDescribe(user, session);
  addUpdate(user, session);
  addDelete(user, session);
}

function addCreate(user: Command, session: Session): void {
  user
    .command("create <EMAIL>")
    .description("create a user, who gets a mail to verify the address, and to set a password if none is given")
    .addOption(new Option("--role <ROLE>", "the rights of the user").choices(roles).default("member"))
    .addOption(namespacesOption().makeOptionMandatory())
    .addOption(passwordOption())
    .action(async (email: string, { role, namespaces, passwordFile }: CreateOptions) => {
      const made = { role, namespaces, password: await readPassword(passwordFile) };
      print(session, await session.withClient((client) => client.users.create(email, made)));
    });
}

function addList(user: Command, session: Session): void {
  user
    .command("list")
    .description("list the users whose role and namespaces you have")
    .action(async () => {
      const users = await session.withClient((client) => allOf(client.users.pages({ pageSize })));
      session.print(accountResult({ users }, users, shownFields));
    });
}

function addDescribe(user: Command, session: Session): void {
  user
    .command("describe <USER-ID>")
    .description("describe a user")
    .action(async (id: string) => print(session, await session.withClient((client) => client.users.get(id))));
}

function addUpdate(user: Command, session: Session): void {
  user
    .command("update <USER-ID>")
    .description("change a user, or your own password; other fields stay")
    .addOption(new Option("--role <ROLE>", "the rights of the user").choices(roles))
    .addOption(namespacesOption())
    .addOption(new Option("--status <STATUS>", "whether the user has any access").choices(statuses))
    .addOption(passwordOption())
    .option("--current-password-file <FILE>", "file with your current password, to change your own")
    .action(async (id: string, { passwordFile, currentPasswordFile, ...changes }: UpdateOptions) => {
      const password = await readPassword(passwordFile);
      const currentPassword = await readPassword(currentPasswordFile);
      const wanted = { ...changes, password, currentPassword };
      print(session, await session.withClient((client) => client.users.update(id, wanted)));
    });
}

function addDelete(user: Command, session: Session): void {
  user
    .command("delete <USER-ID>")
    .description("delete a user, with all API keys and tokens of the user")
    .action(async (userId: string) => {
      await session.withClient((client) => client.users.delete(userId));
      const deleted = { userId, deleted: true };
      session.print(accountResult(deleted, [deleted], ["userId", "deleted"]));
    });
}

function print(session: Session, user: UserInfo): void {
  session.print(accountResult(user, [user], shownFields));
}

async function readPassword(file: string | undefined): Promise<string | undefined> {
  return file === undefined ? undefined : readPasswordFile(file);
}

function namespacesOption(): Option {
  const option = new Option("--namespaces <LIST>", "namespaces of the user, separated by commas; * = all");
  return option.argParser((text) => parseList(text) ?? []);
}

function passwordOption(): Option {
  return new Option("--password-file <FILE>", "file with the password, of 8 to 1,024 bytes");
}
