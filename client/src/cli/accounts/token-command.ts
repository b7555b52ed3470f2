/** `quoinctl token`: the only command that prints a secret, and only on the standard output. */

import type { AccessToken } from "../../index.ts";
import { option } from "../arguments/index.ts";
import type { Connection } from "../connection/index.ts";
import { UsageError } from "../errors/index.ts";
import { firstCommand } from "../session/index.ts";
import { parseDurationSeconds } from "../text/index.ts";

/** The command. */
export const TOKEN = firstCommand("", {
  options: {
    expiresIn: option("<SECONDS>", "life of the token, such as 600 or 10m (default: 1h)", parseDurationSeconds),
  },
  run: async (session, { expiresIn }) => {
    const connection = await session.findConnection();
    const { accessToken, expiresInSeconds } = await obtainToken(connection, expiresIn, session.timeoutMs);
    await session.print({
      document: {
        access_token: accessToken,
        ...(expiresInSeconds === undefined ? {} : { expires_in: expiresInSeconds }),
        token_type: "Bearer",
      },
      shown: Buffer.from(`${accessToken}\n`),
    });
  },
});

/** A new token from an API key; a given token unchanged. */
async function obtainToken(
  { credentials, ...place }: Connection,
  expiresInSeconds: number | undefined,
  timeoutMs: number | undefined,
): Promise<Partial<AccessToken> & Pick<AccessToken, "accessToken">> {
  const { createTokenSource, exchangeApiKey } = await import("../../index.ts");
  if ("apiKey" in credentials) {
    return exchangeApiKey({ ...credentials, ...place, expiresInSeconds, timeoutMs });
  }
  if (expiresInSeconds !== undefined) {
    throw new UsageError("--expires-in needs an API key: this token exists already");
  }
  return { accessToken: await createTokenSource({ credentials, ...place }).token() };
}
