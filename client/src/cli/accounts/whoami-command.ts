/** `quoinctl whoami`: whose credentials these are, and what they allow. */

import { UsageError } from "../errors/index.ts";
import { firstCommand } from "../session/index.ts";
import { accountResult } from "./account-result.ts";

/** What a token says of itself. */
interface Claims {
  readonly sub: string;
  readonly access: readonly string[];
  readonly namespaces: readonly string[];
  /** Unix time in seconds. */
  readonly exp: number;
  readonly key_id?: string;
}

const MILLISECONDS_PER_SECOND = 1_000;
const SHOWN_FIELDS = ["email", "role", "access", "namespaces", "apiKeyId", "expiresAtMs"] as const;

/** The command. */
export const WHOAMI = firstCommand("", {
  run: async (session) => {
    const connection = await session.findConnection();
    const { createTokenSource } = await import("../../index.ts");
    const tokens = createTokenSource(connection);
    const { sub, access, namespaces, exp, key_id: apiKeyId } = readClaims(await tokens.token());
    const user = await session.withClient((client) => client.users.get(sub));
    // The rights of a token are at most those of its user by now.
    const shown = {
      userId: sub,
      email: user.email,
      role: user.role,
      access,
      namespaces,
      apiKeyId,
      expiresAtMs: exp * MILLISECONDS_PER_SECOND,
      endpoints: connection.endpoints,
    };
    await session.print(accountResult(shown, [shown], SHOWN_FIELDS));
  },
});

/** @throws UsageError for a text that is no token. Only the service checks the signature. */
function readClaims(token: string): Claims {
  const [, payload = ""] = token.split(".");
  try {
    const claims: Claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    if (typeof claims.sub === "string" && typeof claims.exp === "number") {
      return claims;
    }
  } catch {
    // As below.
  }
  throw new UsageError("the token is none of Quoin: it does not name a user");
}
