/** `quoinctl login`: an access token for an e-mail address and a password. */

import { chmod, writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { logIn } from "../index.ts";
import { askPassword, readPasswordFile } from "./password.ts";
import type { Session } from "./session.ts";
import { UsageError } from "./usage-error.ts";

interface LoginOptions {
  readonly passwordFile?: string;
  readonly save?: string;
}

const privateMode = 0o600;

/** Adds the command to the program. */
export function addLoginCommand(program: Command, session: Session): void {
  program
    .command("login <EMAIL>")
    .description("print an access token for a user; prompts for the password")
    .option("--password-file <FILE>", "file with the password")
    .option("--save <FILE>", "write the token to a file for --token-file, which only you can read, and do not print it")
    .action(async (email: string, { passwordFile, save }: LoginOptions) => {
      const place = { ...(await session.findHttpConnection()), timeoutMs: session.timeoutMs };
      const password =
        passwordFile === undefined ? await askPassword(session.terminal) : await readPasswordFile(passwordFile);
      const { accessToken, expiresInSeconds, user } = await logIn({ email, password, ...place });
      const { userId, ...rest } = user;
      const document = { expires_in: expiresInSeconds, token_type: "Bearer", user: { user_id: userId, ...rest } };
      if (save === undefined) {
        session.print({
          document: { access_token: accessToken, ...document },
          shown: Buffer.from(`${accessToken}\n`),
        });
      } else {
        await saveToken(save, accessToken);
        session.print({ document, shown: Buffer.from(`logged in; the token is in ${save}\n`) });
      }
    });
}

/** @throws UsageError when the file cannot be written. */
async function saveToken(file: string, token: string): Promise<void> {
  try {
    await writeFile(file, "", { mode: privateMode });
    // An existing file keeps its mode.
    await chmod(file, privateMode);
    await writeFile(file, `${token}\n`);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}
