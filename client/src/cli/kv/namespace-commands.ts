/** `quoinctl namespace …` */

import type { Command } from "commander";
import type { NamespacePage } from "../../index.ts";
import { addCommand } from "../arguments/index.ts";
import type { Cell } from "../output/index.ts";
import { itemsOf, PAGE_SIZE_MAX, pagesFrom, type Session } from "../session/index.ts";

type ListedNamespace = NamespacePage["namespaces"][number];

/** The quotas that the table shows, each as `3 of 10`; all are in JSON and YAML. */
const SHOWN_QUOTAS = ["keys", "bytes", "locks", "event_logs"];

/** Adds the commands to their group. */
export function addNamespaceCommands(namespace: Command, session: Session): void {
  addCreate(namespace, session);
  addList(namespace, session);
}

function addCreate(namespace: Command, session: Session): void {
  addCommand(namespace, "create <NAME>", {
    description: "create a namespace (needs admin access)",
    run: async (name) => {
      const created = await session.withClient((client) => client.keyValue.createNamespace(name));
      await session.print({
        document: { namespace: created.namespace, created_at_ms: created.createdAtMs, revision: created.revision },
        shown: {
          columns: ["NAMESPACE", "CREATED", "REVISION"],
          rows: [[created.namespace, new Date(created.createdAtMs), created.revision]],
        },
      });
    },
  });
}

function addList(namespace: Command, session: Session): void {
  addCommand(namespace, "list [PREFIX]", {
    description: "list the namespaces that you may read, with what they use of their quotas",
    run: async (prefix) => {
      const namespaces = await session.withClient(({ keyValue }) =>
        itemsOf(
          pagesFrom((pageToken) => keyValue.listNamespaces({ prefix, pageSize: PAGE_SIZE_MAX, pageToken })),
          (page) => page.namespaces,
        ),
      );
      await session.print({
        document: { namespaces: namespaces.map(namespaceDocument) },
        shown: {
          columns: ["NAMESPACE", "CREATED", ...SHOWN_QUOTAS.map((quota) => quota.replace("_", " ").toUpperCase())],
          rows: namespaces.map(namespaceRow),
        },
      });
    },
  });
}

function namespaceDocument({ name, createdAtMs, createRevision, quotas }: ListedNamespace): object {
  return { name, created_at_ms: createdAtMs, create_revision: createRevision, quotas };
}

function namespaceRow({ name, createdAtMs, quotas }: ListedNamespace): readonly Cell[] {
  const uses = SHOWN_QUOTAS.map((shown) => {
    const quota = quotas.find((one) => one.name === shown);
    return quota && `${quota.used} of ${quota.limit}`;
  });
  return [name, new Date(createdAtMs), ...uses];
}
