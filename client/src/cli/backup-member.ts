/**
 * Which member is asked for a backup: one that has a leader, and rather a follower than the leader, which has more to do. A member without
 * a leader comes last, the one that has applied most first.
 */

import { type AdminClient, createAdminClient, type MemberStatus, QuoinError } from "../index.ts";
import type { AdminConnection } from "./connection.ts";
import { exitCodes } from "./exit-code.ts";
import { CommandError } from "./failure.ts";
import type { Session } from "./session.ts";

/** How long a member may take to say how it is: one that hangs must not hold up the others. */
const statusTimeoutMs = 2_000;

/** Refusals after which another member may well do what this one does not. */
const passingReasons: ReadonlySet<string> = new Set(["BACKUP_IN_PROGRESS", "NO_BACKUP_STORE"]);

/** A member that was asked. */
export interface AskedMember {
  readonly endpoint: string;
  /** The member's name; its endpoint while that is not known. */
  readonly name: string;
}

/** Does something at each port for administration at once. Results come in the order of the ports. */
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
 * Does something at the best member, or at the next one when that cannot do it.
 *
 * @throws CommandError when no member serves; QuoinError, the first, when none of them could do it.
 */
export async function atBestMember<Value>(
  session: Session,
  work: (admin: AdminClient, member: AskedMember) => Promise<Value>,
): Promise<Value> {
  const connection = await session.findAdminConnection();
  const { credentials, tls } = connection;
  const failures: QuoinError[] = [];
  for (const { endpoint, name } of await rankMembers(connection, session.timeoutMs ?? statusTimeoutMs)) {
    const admin = createAdminClient({ endpoint, credentials, tls, timeoutMs: session.timeoutMs });
    try {
      return await work(admin, { endpoint, name });
    } catch (error) {
      if (!isPassing(error)) throw adminFailure(error);
      failures.push(error);
    } finally {
      admin.close();
    }
  }
  throw failures[0]!;
}

async function rankMembers(connection: AdminConnection, timeoutMs: number): Promise<readonly AskedMember[]> {
  const answers = await atEachPort(connection, timeoutMs, async (admin, endpoint) => {
    const { status } = await admin.getStatus();
    return { endpoint, name: status.name === "" ? endpoint : status.name, status };
  });
  const answered = answers.flatMap((answer) => (answer instanceof QuoinError ? [] : [answer]));
  const serving = answered.filter(({ status }) => status.state === "RUNNING");
  if (serving.length > 0) return serving.toSorted((left, right) => compareRanks(left.status, right.status));
  if (answered.length === 0) throw adminFailure(answers[0]);
  const states = answered.map(({ name, status }) => `${name} is ${[status.state, ...status.alarms].join(": ")}`);
  throw new CommandError(
    `no member serves data: ${states.join("; ")}`,
    exitCodes.unavailable,
    "export what is on the disk of a stopped member with: quoin-node export --data-dir DIRECTORY FILE",
  );
}

function compareRanks(left: MemberStatus, right: MemberStatus): number {
  return rankOf(left) - rankOf(right) || right.appliedIndex - left.appliedIndex;
}

function rankOf({ leaderId, role }: MemberStatus): number {
  if (leaderId === "") return 2;
  return role === "LEADER" ? 1 : 0;
}

/** A token that is not valid is likely one for the public ports, or was shown to one of them. */
export function adminFailure(error: unknown): unknown {
  if (!(error instanceof QuoinError) || error.code !== "UNAUTHENTICATED") return error;
  return new CommandError(
    `${error.message} (${error.reason})`,
    exitCodes.refused,
    "ports for administration take an admin token: --endpoints host:7403 --token-file FILE",
    { cause: error },
  );
}

function isPassing(error: unknown): error is QuoinError {
  return error instanceof QuoinError && (error.code === "UNAVAILABLE" || passingReasons.has(error.reason));
}
