/** `quoinctl namespace …` */

import type { NamespacePage } from "../../index.ts";
import { allPages } from "../../pages/index.ts";
import { flag } from "../arguments/index.ts";
import { type Cell, withProgressLine } from "../output/index.ts";
import { command, commandGroup, itemsOf, PAGE_SIZE_MAX } from "../session/index.ts";
import { interruptible } from "../terminal/index.ts";
import { amountOf, formatSize } from "../text/index.ts";

type ListedNamespace = NamespacePage["namespaces"][number];

/** The quotas that the table shows, each as `3 of 10`; all are in JSON and YAML. */
const SHOWN_QUOTAS = ["keys", "bytes", "locks", "event_logs"];

/** What people see of a deletion, by the names of quotas. */
const REMAINDERS = [
  ["locks", "lock"],
  ["keys", "key"],
  ["memory_regions", "memory region"],
  ["event_logs", "event log"],
] as const;

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

const DELETE = command("delete <NAMESPACE>", {
  description: "delete a namespace (needs admin access)",
  options: {
    recursive: flag("also with keys, locks, memory regions and event logs in it; nothing brings them back"),
    wait: flag("wait until nothing of it is left; this is the default"),
    // Gives `wait` the value false.
    noWait: flag("only begin to delete it"),
  },
  run: async (session, name, { recursive, wait = true }) => {
    const { revision } = await session.withClient(({ keyValue }) => keyValue.deleteNamespace(name, { recursive }));
    if (wait) {
      await interruptible(session.terminal, (signal) =>
        withProgressLine(session, (line) =>
          session.withClient(({ keyValue }) =>
            keyValue.untilNamespaceDeleted(name, { signal, onProgress: (left) => line.show(remainderOf(left)) }),
          ),
        ),
      ).catch((error: unknown) => {
        session.warn(`namespace ${name} is being deleted, and its deletion goes on`);
        throw error;
      });
    }
    await session.print({
      document: { namespace: name, deleted: wait, revision },
      shown: { columns: ["NAMESPACE", "DELETED", "REVISION"], rows: [[name, wait, revision]] },
    });
    if (!wait) {
      session.note(`nothing of ${name} can be used any more; wait for the end with: quoinctl namespace delete ${name}`);
    }
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
export const NAMESPACE_COMMANDS = commandGroup("", [CREATE, LIST, DELETE]);

function namespaceDocument({ name, createdAtMs, createRevision, quotas, deleting }: ListedNamespace): object {
  return { name, created_at_ms: createdAtMs, create_revision: createRevision, quotas, deleting };
}

/** What a deletion has not erased yet, in words. */
function remainderOf({ quotas }: ListedNamespace): string {
  const usedOf = (quota: string) => quotas.find(({ name }) => name === quota)?.used ?? 0;
  const left = REMAINDERS.flatMap(([quota, thing]) => (usedOf(quota) === 0 ? [] : [amountOf(usedOf(quota), thing)]));
  const eventBytes = usedOf("event_bytes");
  const others = eventBytes === 0 ? "its history" : `${formatSize(eventBytes)} of events`;
  return `${left.length === 0 ? others : left.join(", ")} left`;
}

function namespaceRow({ name, createdAtMs, quotas, deleting }: ListedNamespace): readonly Cell[] {
  const uses = SHOWN_QUOTAS.map((shown) => {
    const quota = quotas.find((one) => one.name === shown);
    return quota && `${quota.used} of ${quota.limit}`;
  });
  return [deleting ? `${name} (being deleted)` : name, new Date(createdAtMs), ...uses];
}
