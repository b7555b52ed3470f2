/** `quoinctl user …`, for administrators. */

import { type Command, Option } from "commander";
import { type Answer, accountResult } from "./account-answers.ts";
import { parseList } from "./list.ts";
import { readPages } from "./pages.ts";
import { readPasswordFile } from "./password.ts";
import type { Session } from "./session.ts";

const roles = ["viewer", "member", "admin", "owner"];
const statuses = ["active", "disabled"];
const shownFields = ["user_id", "email", "role", "namespaces", "status", "created_at"];

interface UserOptions {
  readonly role?: string;
  readonly namespaces?: readonly string[];
  readonly status?: string;
  readonly passwordFile?: string;
}

/** Adds the commands to the program. */
export function addUserCommands(program: Command, session: Session): void {
  const user = program.command("user").description("manage users (needs the role admin)");
  const print = (answer: Answer) => session.print(accountResult(answer, [answer], shownFields));
  const pathOf = (id: string) => `/users/${encodeURIComponent(id)}`;
  user
    .command("create <EMAIL>")
    .description("make a user, who is asked by mail to verify the address, and for a password if none is given")
    .addOption(new Option("--role <ROLE>", "what the user may do").choices(roles).default("member"))
    .addOption(namespacesOption().makeOptionMandatory())
    .addOption(passwordOption())
    .action(async (email: string, { role, namespaces, passwordFile }: UserOptions) => {
      const password = passwordFile === undefined ? undefined : await readPasswordFile(passwordFile);
      const client = await session.httpClient();
      print(await client.ask("POST", "/users", { email, role, namespaces, password: password ?? null }));
    });
  user
    .command("list")
    .description("list users")
    .action(async () => {
      const users = await readPages(await session.httpClient(), "/users", {}, "users");
      session.print(accountResult({ users }, users, shownFields));
    });
  user
    .command("describe <USER-ID>")
    .description("describe a user")
    .action(async (id: string) => print(await (await session.httpClient()).ask("GET", pathOf(id))));
  user
    .command("update <USER-ID>")
    .description("change a user; what is not named stays")
    .addOption(new Option("--role <ROLE>", "what the user may do").choices(roles))
    .addOption(namespacesOption())
    .addOption(new Option("--status <STATUS>", "whether the user may do anything at all").choices(statuses))
    .addOption(passwordOption())
    .action(async (id: string, { passwordFile, ...changes }: UserOptions) => {
      const password = passwordFile === undefined ? undefined : await readPasswordFile(passwordFile);
      print(await (await session.httpClient()).ask("PATCH", pathOf(id), { ...changes, password }));
    });
  user
    .command("delete <USER-ID>")
    .description("delete a user, with all API keys and tokens of the user")
    .action(async (id: string) => {
      const deleted = await (await session.httpClient()).ask("DELETE", pathOf(id));
      session.print(accountResult(deleted, [deleted], ["user_id", "deleted"]));
    });
}

function namespacesOption(): Option {
  const option = new Option("--namespaces <LIST>", "where the user may do it, separated by commas; * = everywhere");
  return option.argParser((text) => parseList(text) ?? []);
}

function passwordOption(): Option {
  return new Option("--password-file <FILE>", "file with the password, of 8 to 1,024 bytes");
}
