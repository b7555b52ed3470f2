/** `quoinctl owner …`, for administrators of the machines: it needs an admin token and the admin port. */

import { type Command, Option } from "commander";
import { askPassword, readPasswordFile } from "../prompts/index.ts";
import type { Session } from "../session/index.ts";

interface ResetOptions {
  readonly passwordFile?: string;
  readonly ownerApiKeyFile?: string;
  /** Deprecated name of the same option. */
  readonly ownerKeyFile?: string;
}

/** Adds the commands to their group. */
export function addOwnerCommands(owner: Command, session: Session): void {
  owner
    .command("reset <EMAIL>")
    .description("make the user an active owner with a new password (prompts for it); API keys stay")
    .option("--password-file <FILE>", "file with the password, of 8 to 1,024 bytes")
    .option("--owner-api-key-file <FILE>", "file with a new API key of the owner, qk_<8 characters>_<43 characters>")
    .addOption(
      new Option("--owner-key-file <FILE>", "deprecated name of --owner-api-key-file").conflicts("ownerApiKeyFile"),
    )
    .action(async (email: string, { passwordFile, ownerKeyFile, ownerApiKeyFile = ownerKeyFile }: ResetOptions) => {
      const apiKey = ownerApiKeyFile === undefined ? undefined : (await readPasswordFile(ownerApiKeyFile)).trim();
      const password =
        passwordFile === undefined ? await askPassword(session.terminal) : await readPasswordFile(passwordFile);
      const { userId, created } = await session.withAdminPort((admin) =>
        admin.resetOwner({ owner: { email, password, apiKey } }),
      );
      await session.print({
        document: { user_id: userId, email, created },
        shown: { columns: ["USER-ID", "EMAIL", "CREATED"], rows: [[userId, email, String(created)]] },
      });
    });
}
