/** `quoinctl namespace …` */

import type { NamespacePage } from "../../index.ts";
import { allPages } from "../../pages/index.ts";
import type { Cell } from "../output/index.ts";
import { command, commandGroup, itemsOf, PAGE_SIZE_MAX } from "../session/index.ts";

type ListedNamespace = NamespacePage["namespaces"][number];

/** The quotas that the table shows, each as `3 of 10`; all are in JSON and YAML. */
const SHOWN_QUOTAS = ["keys", "bytes", "locks", "event_logs"];

const CREATE = command("create <NAME>", {
  description: "create a namespace (needs admin access)",
  run: async (session, name) => {
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

const LIST = command("list [PREFIX]", {
  description: "list the namespaces that you may read, with what they use of their quotas",
  run: async (session, prefix) => {
    const namespaces = await session.withClient(({ keyValue }) =>
      itemsOf(
        allPages((pageToken) => keyValue.listNamespaces({ prefix, pageSize: PAGE_SIZE_MAX, pageToken })),
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

/** The commands of the group. */
export const NAMESPACE_COMMANDS = commandGroup("", [CREATE, LIST]);

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
