/** `quoinctl lock …`, `quoinctl rwlock …` and `quoinctl semaphore …` */

import type { LockHandle, LockMode, ReleaseLockOptions } from "../../index.ts";
import { choice, flag, type OptionForm, option, parseNameArgument } from "../arguments/index.ts";
import { hasReason, NotAsExpectedError, UsageError } from "../errors/index.ts";
import { holderLabel, KILL_AFTER_OPTION } from "../running/index.ts";
import { type CompleteCommand, command, commandGroup, type Session } from "../session/index.ts";
import {
  formatMilliseconds,
  parseCount,
  parseDurationSeconds,
  parsePositiveCount,
  parseWaitMs,
} from "../text/index.ts";
import {
  EXCLUSIVE_LOCKS,
  type LockKind,
  type LockTarget,
  READ_WRITE_LOCKS,
  SEMAPHORES,
  type ShownAcquisition,
  type Wanted,
} from "./lock-kinds.ts";
import { listCommand } from "./lock-listing.ts";
import { acquiredLock, describedLock, forcedLock, lockCell } from "./lock-result.ts";
import { showWait } from "./lock-wait.ts";
import { runWithLock } from "./locked-command.ts";

/** How long `lock run` waits by default, in milliseconds: less than the hour that the service allows for a request. */
export const LONGEST_WAIT_MS = 3_590_000;

export const TTL_OPTION = option(
  "<DURATION>",
  "how long the hold lasts without renewal (default: that of the lock)",
  parseDurationSeconds,
);

function commandsOf(kind: LockKind): CompleteCommand {
  const makers = [create, listCommand, describe, acquire, release, forceRelease, remove, run];
  if (kind.hasPermits) {
    makers.push(update);
  }
  return commandGroup(
    examplesOf(kind),
    makers.map((make) => make(kind)),
  );
}

function examplesOf({ command, hasModes, hasPermits }: LockKind): string {
  const mode = hasModes ? " --mode read" : hasPermits ? " --permits 2" : "";
  return `
Examples:

  quoinctl ${command} create default/nightly${hasPermits ? " --permits 5" : ""}
  quoinctl ${command} run default/nightly${mode} --wait 10m -- ./nightly.sh
  quoinctl ${command} acquire default/nightly${mode} --wait 30s --ttl 5m
  quoinctl ${command} release default/nightly --token 17
  quoinctl ${command} describe default/nightly
  quoinctl ${command} list default --in-use`;
}

function create(kind: LockKind): CompleteCommand {
  return command("create <NAMESPACE/NAME>", {
    description: `create ${article(kind)}, which starts free`,
    options: {
      ttl: option("<DURATION>", "how long a hold lasts without renewal (default: 30s)", parseDurationSeconds),
      lockDelay: kind.hasPermits
        ? undefined
        : option(
            "<DURATION>",
            "how long no caller gets the lock after a hold expired or was forced",
            parseDurationSeconds,
          ),
      permits: permitsOption(kind, "how many permits it has, at most 10000 (default: 1)"),
      ifAbsent: flag("succeed as well if the lock exists, and leave it as it is"),
    },
    run: async (session, text, { ttl, lockDelay, permits, ifAbsent = false }) => {
      const target = parseLock(text);
      const created = await session.withClient(async (client) => {
        try {
          return await kind.create(client, target, permits, { ttlSeconds: ttl, lockDelaySeconds: lockDelay });
        } catch (error) {
          // A lock of the other kind exists as well: describing it then says so.
          if (ifAbsent && hasReason(error, "LOCK_EXISTS")) {
            return kind.describe(client, target);
          }
          throw error;
        }
      });
      await session.print({
        document: { ...target, created_at_ms: created.createdAtMs, revision: created.revision },
        shown: {
          columns: ["LOCK", "CREATED", "REVISION"],
          rows: [[lockCell(target), new Date(created.createdAtMs), created.revision]],
        },
      });
    },
  });
}

function describe(kind: LockKind): CompleteCommand {
  return command("describe <NAMESPACE/NAME>", {
    description: "show who holds a lock, until when, and how many wait",
    run: async (session, text) => {
      const target = parseLock(text);
      const lock = await session.withClient((client) => kind.describe(client, target));
      await session.print(describedLock(target, lock, kind));
    },
  });
}

function acquire(kind: LockKind): CompleteCommand {
  return command("acquire <NAMESPACE/NAME>", {
    description: "acquire a lock, or renew a hold; exit code 4 if others hold it. The hold ends by itself: see run",
    options: {
      ttl: TTL_OPTION,
      owner: ownerOption("the id of the user"),
      wait: option("<DURATION>", "how long to wait for it (default: not at all)", parseWaitMs),
      token: option("<N>", renewalText(kind), parsePositiveCount).without("wait"),
      session: option(
        "<N>",
        "let the hold end with this session of yours, such as $QUOIN_SESSION_ID in session run",
        parsePositiveCount,
      ).without("token", "ttl"),
      mode: modeOption(kind, "how to hold it (default: write)"),
      permits: permitsOption(kind, "how many permits (default: 1)")?.without("token"),
    },
    run: async (session, text, options) => {
      const target = parseLock(text);
      const { ttl: ttlSeconds, owner, wait: waitMs, token, session: sessionId } = options;
      const acquisition = await session.withClient(async (client) => {
        const wait = showWait(session, client, { target, kind, owner, waitMs: waitMs ?? 0 });
        try {
          const asked = { ttlSeconds, owner, waitMs, ...(sessionId !== undefined && { sessionId }) };
          const answer = await kind.acquire(client, target, wantedOf(options), token, asked);
          wait.answered();
          return answer;
        } finally {
          wait.end();
        }
      });
      await session.print(acquiredLock(target, acquisition, kind));
      if (!acquisition.acquired) {
        throw new NotAsExpectedError(notAcquired(text, acquisition));
      }
    },
  });
}

function release(kind: LockKind): CompleteCommand {
  return command("release <NAMESPACE/NAME>", {
    description: "release a hold of a lock; the next waiter gets it at once",
    options: {
      token: option(
        "<N>",
        "the hold with this token, as acquire printed it (default: the hold of lock run, inside of it)",
        parsePositiveCount,
      ),
      owner: option("<LABEL>", "only if the hold has this label"),
      force: flag("the hold of any holder, like force-release (needs admin access)").without("token", "owner"),
      mode: modeOption(kind, "the hold in this mode"),
    },
    run: async (session, text, options) => {
      const target = parseLock(text);
      if (options.force === true) {
        const forced = await session.withClient((client) => kind.forceRelease(client, target, {}));
        await session.print(forcedLock(target, forced));
        return;
      }
      const { token: fencingToken, owner } = options;
      const hold = fencingToken === undefined ? ownHold(session, target, kind) : { fencingToken, owner };
      const { revision } = await session.withClient((client) => kind.release(client, target, modeOf(options), hold));
      await session.print({
        document: { ...target, released: true, revision },
        shown: { columns: ["LOCK", "RELEASED", "REVISION"], rows: [[lockCell(target), true, revision]] },
      });
    },
  });
}

/**
 * The hold with which `lock run` has started this process.
 *
 * @throws UsageError if it has another lock or none: without a token, this command would release the hold of another
 * program of the same user.
 */
export function ownHold(
  { terminal }: Session,
  { namespace, name }: LockTarget,
  { command }: Pick<LockKind, "command">,
): ReleaseLockOptions {
  const { QUOIN_NAMESPACE, QUOIN_LOCK, QUOIN_FENCING_TOKEN, QUOIN_LOCK_OWNER: owner } = terminal.environment;
  const fencingToken = Number(QUOIN_FENCING_TOKEN);
  const isOwn = QUOIN_NAMESPACE === namespace && QUOIN_LOCK === name;
  if (isOwn && Number.isSafeInteger(fencingToken) && fencingToken > 0) {
    return { fencingToken, owner };
  }
  throw new UsageError(
    `name the hold of ${namespace}/${name} with --token: another program may hold the lock now`,
    `${command} acquire printed the token, and ${command} describe shows it; administrators can pass --force instead`,
  );
}

function forceRelease(kind: LockKind): CompleteCommand {
  return command("force-release <NAMESPACE/NAME>", {
    description: "take a lock away from its holder (needs admin access)",
    options: {
      token: option("<N>", "only if the hold with this token is still live", parseCount),
      reason: option("<TEXT>", "why, for the record"),
    },
    run: async (session, text, { token, reason }) => {
      const target = parseLock(text);
      const forced = await session.withClient((client) =>
        kind.forceRelease(client, target, { fencingToken: token, reason }),
      );
      await session.print(forcedLock(target, forced));
    },
  });
}

function remove(kind: LockKind): CompleteCommand {
  return command("delete <NAMESPACE/NAME>", {
    description: "delete a free lock",
    options: { force: flag("also if it is in use: its holds end, and its waits are refused (needs admin access)") },
    run: async (session, text, options) => {
      const target = parseLock(text);
      const { revision } = await session.withClient((client) => kind.delete(client, target, options));
      await session.print({
        document: { ...target, deleted: true, revision },
        shown: { columns: ["LOCK", "DELETED", "REVISION"], rows: [[lockCell(target), true, revision]] },
      });
    },
  });
}

function update(): CompleteCommand {
  return command("update <NAMESPACE/NAME> <PERMITS>", {
    description: "change the number of permits; it may fall below what is held, which stays held",
    run: async (session, text, count) => {
      const { namespace, name } = parseLock(text);
      const permits = parsePositiveCount(count);
      const { revision } = await session.withClient(({ semaphores }) => semaphores.update(namespace, name, permits));
      await session.print({
        document: { namespace, name, permits, revision },
        shown: { columns: ["LOCK", "PERMITS", "REVISION"], rows: [[lockCell({ namespace, name }), permits, revision]] },
      });
    },
  });
}

function run(kind: LockKind): CompleteCommand {
  return command("run <NAMESPACE/NAME> <COMMAND...>", {
    description: "run a command while holding a lock, and end with its exit code; 4 if the lock was not acquired",
    options: {
      ttl: TTL_OPTION,
      owner: ownerOption("user@host:process, and random characters"),
      wait: option("<DURATION>", "how long to wait for the lock, 0 = not at all", parseWaitMs).byDefault(
        LONGEST_WAIT_MS,
        "as long as the service allows, 59m50s",
      ),
      killAfter: KILL_AFTER_OPTION,
      mode: modeOption(kind, "how to hold it (default: write)"),
      permits: permitsOption(kind, "how many permits (default: 1)"),
    },
    usage: "[options] <NAMESPACE/NAME> -- <COMMAND...>",
    help: RUN_HELP,
    run: async (session, text, words, options) => {
      const target = parseLock(text);
      const { ttl: ttlSeconds, owner = holderLabel(), wait: waitMs, killAfter: killAfterMs } = options;
      const { terminal } = session;
      session.exitCode = await session.withClient(async (client) => {
        const wait = showWait(session, client, { target, kind, owner, waitMs });
        const work = (handle: LockHandle) => {
          wait.answered();
          return runWithLock(terminal, handle, { words, killAfterMs });
        };
        try {
          return await kind.withLock(client, target, wantedOf(options), work, { ttlSeconds, owner, waitMs });
        } finally {
          wait.end();
        }
      });
    },
  });
}

const RUN_HELP = `
The command has QUOIN_NAMESPACE, QUOIN_LOCK, QUOIN_LOCK_OWNER and QUOIN_FENCING_TOKEN in its environment. Writes can be
guarded with them: quoinctl kv put --guard "$QUOIN_LOCK=$QUOIN_FENCING_TOKEN" … (for a read-write lock: --rw-guard).
When the lock is lost, the command and the processes that it has started are terminated, and the exit code is 1. After
SIGTERM or Ctrl-C, all of them have ended before the lock is released.`;

/** The commands of exclusive locks. */
export const LOCK_COMMANDS = commandsOf(EXCLUSIVE_LOCKS);

/** The commands of semaphores. */
export const SEMAPHORE_COMMANDS = commandsOf(SEMAPHORES);

/** The commands of read-write locks. */
export const READ_WRITE_LOCK_COMMANDS = commandsOf(READ_WRITE_LOCKS);

export function parseLock(text: string): LockTarget {
  return parseNameArgument(text, "lock", "NAME");
}

/** Who has the lock instead, and how long the request waited. */
function notAcquired(text: string, { holders, state, waitedMs }: ShownAcquisition): string {
  const owners = holders.map(({ owner }) => owner).join(", ");
  const waited = waitedMs === 0 ? "" : ` after ${formatMilliseconds(waitedMs)}`;
  return `${text} was not acquired${waited}: ${owners === "" ? `it is ${state}` : `${owners} holds it`}`;
}

function modeOf({ mode }: { readonly mode?: "read" | "write" | undefined }): LockMode | undefined {
  if (mode === undefined) {
    return undefined;
  }
  return mode === "read" ? "READ" : "WRITE";
}

function wantedOf(options: {
  readonly mode?: "read" | "write" | undefined;
  readonly permits?: number | undefined;
}): Wanted {
  return { mode: modeOf(options), permits: options.permits };
}

/** Undefined = the locks of this kind have no permits. */
function permitsOption({ hasPermits }: LockKind, description: string): OptionForm<number | undefined> | undefined {
  return hasPermits ? option("<N>", description, parsePositiveCount) : undefined;
}

function ownerOption(byDefault: string): OptionForm<string | undefined> {
  return option("<LABEL>", `label of the holder, at most 256 bytes (default: ${byDefault})`);
}

/** Undefined = the locks of this kind have no modes. */
function modeOption({ hasModes }: LockKind, description: string): OptionForm<"read" | "write" | undefined> | undefined {
  return hasModes ? choice("<MODE>", description, ["read", "write"]) : undefined;
}

function renewalText({ hasModes }: LockKind): string {
  return hasModes ? "renew the hold with this token, or change its mode" : "renew the hold with this token";
}

function article({ title }: LockKind): string {
  return title.startsWith("e") ? `an ${title}` : `a ${title}`;
}
