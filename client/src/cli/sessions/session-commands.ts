/** `quoinctl session …` */

import type { DescribeSessionResult, SessionHandle, SessionInfo } from "../../index.ts";
import { allPages } from "../../pages/index.ts";
import { flag, option, parseNameArgument, parseNamespaceArgument } from "../arguments/index.ts";
import { NotAsExpectedError, UsageError } from "../errors/index.ts";
import type { Cell, Result } from "../output/index.ts";
import { holderLabel, KILL_AFTER_OPTION, runCommand } from "../running/index.ts";
import { command, commandGroup, itemsOf, PAGE_SIZE_MAX } from "../session/index.ts";
import {
  bytesDocument,
  displayValue,
  formatMilliseconds,
  parseDurationSeconds,
  parsePositiveCount,
} from "../text/index.ts";

/** Characters of metadata that a table shows: with the other columns, they fit a usual terminal. */
const SHOWN_CHARACTERS = 40;

const AFTER_HELP = `
Examples:

  quoinctl session run default --ttl 10s -- ./serve.sh
  quoinctl session create default --ttl 1m --owner web-1
  quoinctl session renew default/17
  quoinctl session describe default/17
  quoinctl session end default/17`;

const RUN_HELP = `
The command has QUOIN_NAMESPACE and QUOIN_SESSION_ID in its environment. Keys that it puts with them end with the session:
quoinctl kv put "$QUOIN_NAMESPACE/services/web/1" 10.0.0.1 --session "$QUOIN_SESSION_ID". When the session is lost, the
command and the processes that it has started are terminated, and the exit code is 1. After SIGTERM or Ctrl-C, all of them
have ended before the session is ended.`;

const TTL_OPTION = option("<DURATION>", "how long it lives without renewal (default: 30s)", parseDurationSeconds);

const METADATA_OPTION = option("<TEXT>", "what other clients read with it, at most 1 KiB");

const CREATE = command("create <NAMESPACE>", {
  description: "create a session, which ends by itself without renewal, and print its id: see run",
  options: {
    ttl: TTL_OPTION,
    owner: option("<LABEL>", "label of who uses it, at most 256 bytes (default: the id of the user)"),
    metadata: METADATA_OPTION,
  },
  run: async (session, target, { ttl: ttlSeconds, owner, metadata }) => {
    const namespace = parseNamespaceArgument(target);
    const created = await session.withClient((client) =>
      client.sessions.create(namespace, { ttlSeconds, owner, metadata }),
    );
    await session.print({
      document: {
        namespace,
        session_id: created.sessionId,
        expires_in_ms: created.expiresInMs,
        revision: created.revision,
      },
      shown: {
        columns: ["SESSION", "EXPIRES IN"],
        rows: [[created.sessionId, formatMilliseconds(created.expiresInMs)]],
      },
    });
  },
});

const RENEW = command("renew <NAMESPACE/SESSION>", {
  description: "let a session live for its whole time to live again; exit code 4 if it has ended",
  run: async (session, text) => {
    const { namespace, sessionId } = parseSession(text);
    const [renewed] = await session.withClient((client) => client.sessions.renew(namespace, [sessionId]));
    const expiresInMs = renewed?.expiresInMs ?? 0;
    await session.print({
      document: { namespace, session_id: sessionId, expires_in_ms: expiresInMs },
      shown: {
        columns: ["SESSION", "EXPIRES IN"],
        rows: [[sessionId, expiresInMs === 0 ? undefined : formatMilliseconds(expiresInMs)]],
      },
    });
    if (expiresInMs === 0) {
      throw new NotAsExpectedError(`${text} has ended, or it is not a session of this user`);
    }
  },
});

const END = command("end <NAMESPACE/SESSION>", {
  description: "end a session, and everything that belongs to it",
  options: { force: flag("also the session of another user (needs admin access)") },
  run: async (session, text, { force }) => {
    const { namespace, sessionId } = parseSession(text);
    const ended = await session.withClient((client) => client.sessions.end(namespace, sessionId, { force }));
    await session.print({
      document: { namespace, session_id: sessionId, ended_objects: ended.endedObjects, revision: ended.revision },
      shown: {
        columns: ["SESSION", "ENDED OBJECTS", "REVISION"],
        rows: [[sessionId, ended.endedObjects, ended.revision]],
      },
    });
  },
});

const DESCRIBE = command("describe <NAMESPACE/SESSION>", {
  description: "show a session, its keys, and its holds of locks",
  run: async (session, text) => {
    const { namespace, sessionId } = parseSession(text);
    const { keys, holds, revision, ...found } = await session.withClient((client) =>
      client.sessions.describe(namespace, sessionId),
    );
    const locks = holds.map(
      ({ lockName, rw, fencingToken }) => `${rw ? "rwlock" : "lock"} ${lockName} (${fencingToken})`,
    );
    const shown = keys.length + locks.length === 0 ? [undefined] : [...keys, ...locks];
    await session.print({
      document: { namespace, ...sessionDocument(found), keys, holds: holds.map(holdDocument), revision },
      shown: {
        columns: [...COLUMNS, "KEY OR HOLD"],
        rows: shown.map((thing) => [...sessionCells(found), thing]),
      },
    });
  },
});

function holdDocument({ lockName, fencingToken, rw }: DescribeSessionResult["holds"][number]) {
  return { lock_name: lockName, fencing_token: fencingToken, rw };
}

const LIST = command("list <NAMESPACE>", {
  description: "list the sessions of a namespace in the order of their creation",
  options: { limit: option("<N>", "stop after this many sessions (default: all)", parsePositiveCount) },
  run: async (session, target, { limit }) => {
    const namespace = parseNamespaceArgument(target);
    const sessions = await session.withClient((client) =>
      itemsOf(
        allPages((pageToken) => client.sessions.list(namespace, { pageToken, pageSize: PAGE_SIZE_MAX })),
        ({ items }) => items,
        limit,
      ),
    );
    await session.print(listed(namespace, sessions));
  },
});

const RUN = command("run <NAMESPACE> <COMMAND...>", {
  description: "run a command while a session lives, and end with its exit code",
  options: {
    ttl: TTL_OPTION,
    owner: option("<LABEL>", "label of who uses it (default: user@host:process, and random characters)"),
    metadata: METADATA_OPTION,
    killAfter: KILL_AFTER_OPTION,
  },
  usage: "[options] <NAMESPACE> -- <COMMAND...>",
  help: RUN_HELP,
  run: async (session, target, words, options) => {
    const namespace = parseNamespaceArgument(target);
    const { terminal } = session;
    const { ttl: ttlSeconds, owner = holderLabel(), killAfter: killAfterMs, metadata } = options;
    session.exitCode = await session.withClient(async (client) => {
      const kept = await client.session(namespace, { ttlSeconds, owner, metadata });
      const exitCode = await untilItsEnd(kept, () =>
        runCommand(terminal, {
          words,
          killAfterMs,
          variables: { QUOIN_NAMESPACE: namespace, QUOIN_SESSION_ID: String(kept.id) },
          ending: { signal: kept.lost, reason: "the session is lost, and the command is terminated" },
        }),
      );
      kept.lost.throwIfAborted();
      return exitCode;
    });
  },
});

/** The commands of sessions. */
export const SESSION_COMMANDS = commandGroup(AFTER_HELP, [CREATE, RUN, RENEW, END, DESCRIBE, LIST]);

async function untilItsEnd(kept: SessionHandle, work: () => Promise<number>): Promise<number> {
  await using _ended = kept;
  return await work();
}

/** @throws UsageError unless there is a namespace and the id of a session. */
function parseSession(text: string): { readonly namespace: string; readonly sessionId: number } {
  const { namespace, name } = parseNameArgument(text, "session", "SESSION");
  const sessionId = Number(name);
  if (!/^[0-9]+$/.test(name) || !Number.isSafeInteger(sessionId) || sessionId < 1) {
    throw new UsageError(`give the session by its id, a number above 0, not ${JSON.stringify(name)}`);
  }
  return { namespace, sessionId };
}

const COLUMNS = ["SESSION", "OWNER", "SUBJECT", "TTL", "EXPIRES IN", "OBJECTS", "METADATA"];

function listed(namespace: string, sessions: readonly SessionInfo[]): Result {
  return {
    document: { namespace, items: sessions.map(sessionDocument) },
    shown: { columns: COLUMNS, rows: sessions.map(sessionCells) },
  };
}

function sessionDocument(session: SessionInfo): object {
  return {
    session_id: session.sessionId,
    owner: session.owner,
    subject: session.subject,
    ...bytesDocument("metadata", session.metadata),
    ttl_seconds: session.ttlSeconds,
    expires_in_ms: session.expiresInMs,
    created_at_ms: session.createdAtMs,
    objects: session.objects,
  };
}

function sessionCells(session: SessionInfo): readonly Cell[] {
  return [
    session.sessionId,
    session.owner,
    session.subject,
    `${session.ttlSeconds}s`,
    formatMilliseconds(session.expiresInMs),
    session.objects,
    session.metadata.length === 0 ? undefined : displayValue(session.metadata, SHOWN_CHARACTERS),
  ];
}
