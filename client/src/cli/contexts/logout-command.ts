/** `quoinctl logout`: ends the access that `login` has saved in a context. */

import { flag } from "../arguments/index.ts";
import { changeConfiguration, contextFields, readConfiguration, selectContext } from "../connection/index.ts";
import { isRefusal, UsageError } from "../errors/index.ts";
import { firstCommand, type Session } from "../session/index.ts";
import { removeLogin } from "./context-document.ts";

const AFTER_HELP = `
It revokes the API key, with all of its tokens, and removes it from the context. The context itself stays. If the
cluster is gone, --local only removes the access; an API key then stays valid until it ends.`;

/** The command. */
export const LOGOUT = firstCommand("", {
  options: { local: flag("revoke nothing: only remove the access from the context") },
  help: AFTER_HELP,
  run: async (session, { local }) => {
    const { terminal } = session;
    const configuration = await readConfiguration(terminal);
    const name = selectContext(terminal, session.connectionOptions.context, configuration)?.name;
    if (name === undefined) {
      throw new UsageError("no context is selected", "see: quoinctl context list");
    }
    const fields = contextFields(configuration, name);
    const apiKeyId = fields.text("api_key_id");
    if (apiKeyId === undefined && fields.text("expires_at") === undefined) {
      throw new UsageError(`the context ${name} has no access from login`, "see: quoinctl context list");
    }
    const revoked = apiKeyId !== undefined && local !== true && (await revoke(session, name, apiKeyId));
    await changeConfiguration(terminal, (document) => removeLogin(document, name));
    await session.print({
      document: { context: name, api_key_id: apiKeyId ?? null, revoked },
      shown: Buffer.from(`logged out; the context ${name} has no access any more\n`),
    });
  },
});

/** Revokes the API key with itself. Returns false if it was not valid any more. */
async function revoke(session: Session, context: string, apiKeyId: string): Promise<boolean> {
  try {
    await session.withClient((client) => client.keys.revoke(apiKeyId), { context });
    return true;
  } catch (error) {
    if (isRefusal(error, "UNAUTHENTICATED") || isRefusal(error, "NOT_FOUND")) {
      return false;
    }
    throw error;
  }
}
