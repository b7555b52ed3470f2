/** `quoinctl namespace …` */

import type { Command } from "commander";
import type { Session } from "./session.ts";

/** Adds the commands to the program. */
export function addNamespaceCommands(program: Command, session: Session): void {
  program
    .command("namespace")
    .description("manage namespaces")
    .command("create <NAME>")
    .description("create a namespace (needs admin access)")
    .action(async (name: string) => {
      const created = await session.withClient((client) => client.keyValue.createNamespace(name));
      session.print({
        document: { namespace: created.namespace, created_at_ms: created.createdAtMs, revision: created.revision },
        shown: {
          columns: ["NAMESPACE", "CREATED", "REVISION"],
          rows: [[created.namespace, new Date(created.createdAtMs).toISOString(), String(created.revision)]],
        },
      });
    });
}
