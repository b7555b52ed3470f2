/** `quoinctl owner …`, for administrators of the machines: it needs an admin token and the admin port. */

import { option } from "../arguments/index.ts";
import { askPassword, readPasswordFile } from "../prompts/index.ts";
import { command, commandGroup } from "../session/index.ts";

const RESET = command("reset <EMAIL>", {
  description: "make the user an active owner with a new password (prompts for it); API keys stay",
  options: {
    passwordFile: option("<FILE>", "file with the password, of 8 to 1,024 bytes"),
    ownerApiKeyFile: option("<FILE>", "file with a new API key of the owner, qk_<8 characters>_<43 characters>"),
    ownerKeyFile: option("<FILE>", "deprecated name of --owner-api-key-file").without("ownerApiKeyFile"),
  },
  run: async (session, email, { passwordFile, ownerKeyFile, ownerApiKeyFile = ownerKeyFile }) => {
    const apiKey = ownerApiKeyFile === undefined ? undefined : (await readPasswordFile(ownerApiKeyFile)).trim();
    const password =
      passwordFile === undefined ? await askPassword(session.terminal) : await readPasswordFile(passwordFile);
    const { userId, created } = await session.withAdminPort((admin) =>
      admin.resetOwner({ owner: { email, password, apiKey } }),
    );
    await session.print({
      document: { user_id: userId, email, created },
      shown: { columns: ["USER-ID", "EMAIL", "CREATED"], rows: [[userId, email, created]] },
    });
  },
});

/** The commands of the group. */
export const OWNER_COMMANDS = commandGroup("", [RESET]);
