/** `quoinctl lock list`, `quoinctl rwlock list` and `quoinctl semaphore list` */

import type { Client, ListedLock, ListLocksOptions } from "../../index.ts";
import { allPages } from "../../pages/index.ts";
import { flag, option, parsePrefixArgument } from "../arguments/index.ts";
import type { TableContent } from "../output/index.ts";
import { type CompleteCommand, command, itemsOf, PAGE_SIZE_MAX } from "../session/index.ts";
import { parsePositiveCount } from "../text/index.ts";
import type { LockKind } from "./lock-kinds.ts";
import { holdCells, holdDocument, lockCell, permitsCell } from "./lock-result.ts";

/** The command that lists the locks of one kind. */
export function listCommand(kind: LockKind): CompleteCommand {
  return command("list <NAMESPACE[/LOCK-PREFIX]>", {
    description: `list the ${kind.title}s whose names start with a prefix, who holds them, and how many wait`,
    options: {
      inUse: flag("leave out free locks"),
      limit: option("<N>", "stop after this many (default: all)", parsePositiveCount),
    },
    run: async (session, text, { inUse = false, limit }) => {
      const { namespace, prefix } = parsePrefixArgument(text);
      const options = { namePrefix: prefix, inUseOnly: inUse };
      const locks = await session.withClient((client) => readList(client, namespace, options, kind, limit));
      await session.print({
        document: { namespace, prefix, locks: locks.map(lockDocument) },
        shown: lockTable(namespace, locks, kind),
      });
    },
  });
}

/** Read-write locks come last: for the other kinds, no page is read after the first of them. */
async function readList(
  { locks }: Client,
  namespace: string,
  options: ListLocksOptions,
  { hasModes: rw, hasPermits }: LockKind,
  limit: number | undefined,
): Promise<readonly ListedLock[]> {
  const pages = allPages(async (pageToken) => {
    const page = await locks.list(namespace, { ...options, pageSize: PAGE_SIZE_MAX, pageToken });
    return !rw && page.locks.some((lock) => lock.rw) ? { ...page, nextPageToken: "" } : page;
  });
  const isMeant = (lock: ListedLock) => lock.rw === rw && lock.permits > 0 === hasPermits;
  return itemsOf(pages, (page) => page.locks.filter(isMeant), limit);
}

/** A row for each listed hold, and one row for the others or for none. */
function lockTable(namespace: string, locks: readonly ListedLock[], { hasModes, hasPermits }: LockKind): TableContent {
  return {
    columns: [
      "LOCK",
      "STATE",
      ...(hasModes ? ["MODE"] : []),
      ...(hasPermits ? ["PERMITS"] : []),
      "OWNER",
      "SUBJECT",
      "TOKEN",
      "EXPIRES IN",
      "WAITING",
    ],
    rows: locks.flatMap((lock) => {
      const { name, state, holders, holderCount, waitingReaders, waitingWriters } = lock;
      const others = holderCount - holders.length;
      const withoutHold = others > 0 ? `and ${others} more` : undefined;
      const shown = holders.length === 0 || others > 0 ? [...holders, undefined] : holders;
      return shown.map((hold) => [
        lockCell({ namespace, name }),
        state,
        ...(hasModes ? [hold?.mode] : []),
        ...(hasPermits ? [permitsCell(hold, lock)] : []),
        hold?.owner ?? withoutHold,
        ...holdCells(hold).slice(1),
        waitingReaders + waitingWriters,
      ]);
    }),
  };
}

function lockDocument(lock: ListedLock): object {
  return {
    name: lock.name,
    rw: lock.rw,
    state: lock.state,
    holders: lock.holders.map(holdDocument),
    holder_count: lock.holderCount,
    waiting_readers: lock.waitingReaders,
    waiting_writers: lock.waitingWriters,
    ttl_seconds: lock.ttlSeconds,
    lock_delay_seconds: lock.lockDelaySeconds,
    cooldown_ms: lock.cooldownMs,
    last_fencing_token: lock.lastFencingToken,
    created_at_ms: lock.createdAtMs,
    refused_guards: lock.refusedGuards,
    ...(lock.permits > 0 ? { permits: lock.permits, held_permits: lock.heldPermits } : {}),
  };
}
