/** `quoinctl namespace …` */

import type { Command } from "commander";
import type { Session } from "./session.ts";

/** Adds the commands to their group. */
export function addNamespaceCommands(namespace: Command, session: Session): void {
  namespace
    .command("create <NAME>")
    .description("create a namespace (needs admin access)")
    .action(async (name: string) => {
      const created = await session.withClient((client) => client.keyValue.createNamespace(name));
      await session.print({
        document: { namespace: created.namespace, created_at_ms: created.createdAtMs, revision: created.revision },
        shown: {
          columns: ["NAMESPACE", "CREATED", "REVISION"],
          rows: [[created.namespace, new Date(created.createdAtMs).toISOString(), String(created.revision)]],
        },
      });
    });
}
