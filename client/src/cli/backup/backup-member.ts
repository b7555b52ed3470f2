/**
 * Chooses the member for a backup: one with a leader, and preferably a follower, because the leader has more work.
 * Members without a leader come last, those with more applied entries first.
 */

import { type AdminClient, createAdminClient, type MemberStatus, QuoinError } from "../../index.ts";
import type { AdminConnection } from "../connection/index.ts";
import { CommandError, EXIT_CODES } from "../errors/index.ts";
import type { Session } from "../session/index.ts";
import { WHERE_MEMBER_PROGRAM_IS } from "./member-program.ts";

/** How long a member may take to report its status: a hanging member must not delay the others. */
const STATUS_TIMEOUT_MS = 2_000;

/** Refusals after which another member may still succeed. */
const PASSING_REASONS: ReadonlySet<string> = new Set(["BACKUP_IN_PROGRESS", "NO_BACKUP_STORE"]);

/** The member that was chosen. */
export interface QueriedMember {
  readonly endpoint: string;
  /** The member's name; its endpoint while the name is not known. */
  readonly name: string;
}

/** Runs work on all admin ports at once. Results are in the order of the ports. */
export function atEachPort<Value>(
  { endpoints, credentials, tls }: AdminConnection,
  timeoutMs: number | undefined,
  work: (admin: AdminClient, endpoint: string) => Promise<Value>,
): Promise<(Value | QuoinError)[]> {
  return Promise.all(
    endpoints.map(async (endpoint) => {
      const admin = createAdminClient({ endpoint, credentials, tls, timeoutMs });
      try {
        return await work(admin, endpoint);
      } catch (error) {
        return QuoinError.from(error);
      } finally {
        admin.close();
      }
    }),
  );
}

/**
 * Runs work on the best member, or on the next one if that fails.
 *
 * @throws CommandError if no member serves; the first QuoinError if none of them could do it.
 */
export async function atBestMember<Value>(
  session: Session,
  work: (admin: AdminClient, member: QueriedMember) => Promise<Value>,
): Promise<Value> {
  const connection = await session.findAdminConnection();
  const { credentials, tls } = connection;
  const failures: QuoinError[] = [];
  for (const { endpoint, name } of await rankMembers(connection, session.timeoutMs ?? STATUS_TIMEOUT_MS)) {
    const admin = createAdminClient({ endpoint, credentials, tls, timeoutMs: session.timeoutMs });
    try {
      return await work(admin, { endpoint, name });
    } catch (error) {
      if (!isPassing(error)) {
        throw adminFailure(error);
      }
      failures.push(error);
    } finally {
      admin.close();
    }
  }
  throw failures[0]!;
}

async function rankMembers(connection: AdminConnection, timeoutMs: number): Promise<readonly QueriedMember[]> {
  const answers = await atEachPort(connection, timeoutMs, async (admin, endpoint) => {
    const { status } = await admin.getStatus();
    return { endpoint, name: status.name === "" ? endpoint : status.name, status };
  });
  const answered = answers.flatMap((answer) => (answer instanceof QuoinError ? [] : [answer]));
  const serving = answered.filter(({ status }) => status.state === "RUNNING");
  if (serving.length > 0) {
    return serving.toSorted((left, right) => compareRanks(left.status, right.status));
  }
  if (answered.length === 0) {
    throw adminFailure(answers[0]);
  }
  const states = answered.map(({ name, status }) => `${name} is ${[status.state, ...status.alarms].join(": ")}`);
  throw new CommandError(
    `no member serves data: ${states.join("; ")}`,
    EXIT_CODES.unavailable,
    `export the data of a stopped member with: quoin-node export --data-dir DIRECTORY FILE; ${WHERE_MEMBER_PROGRAM_IS}`,
  );
}

function compareRanks(left: MemberStatus, right: MemberStatus): number {
  return rankOf(left) - rankOf(right) || right.appliedIndex - left.appliedIndex;
}

function rankOf({ leaderId, role }: MemberStatus): number {
  if (leaderId === "") {
    return 2;
  }
  return role === "LEADER" ? 1 : 0;
}

/** An invalid token is probably one for the public ports, or was sent to a public port. */
export function adminFailure(error: unknown): unknown {
  if (!(error instanceof QuoinError) || error.code !== "UNAUTHENTICATED") {
    return error;
  }
  return new CommandError(
    `${error.message} (${error.reason})`,
    EXIT_CODES.refused,
    "admin ports take an admin token: --endpoints host:7403 --token-file FILE",
    { cause: error },
  );
}

function isPassing(error: unknown): error is QuoinError {
  return error instanceof QuoinError && (error.code === "UNAVAILABLE" || PASSING_REASONS.has(error.reason));
}
