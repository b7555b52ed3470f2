/** LockService: listings of locks, of their holders, and of the requests that wait for them. */

import {
  type ListLocksRequest,
  type ListLocksResponse,
  type ListLockWaitsRequest,
  type ListLockWaitsResponse,
  Lock,
} from "@quoin/proto";
import { type Listing, signPageToken, verifyPageToken } from "../../access/index.ts";
import { type LockName, type LockSelection, listLocks, listLockWaits, type StateReader } from "../../state/index.ts";
import type { Call, Reply } from "./call.ts";
import type { Executor, Query } from "./executor.ts";
import {
  consistencyField,
  LISTING_BYTES_MAX,
  lockNameField,
  lockPrefixField,
  namespaceField,
  pageSizeField,
  waitsMaxField,
} from "./field-rules.ts";
import type { HostMember, HostReplica } from "./host.ts";
import { listedLock, lockWaits } from "./lock-messages.ts";

interface ListingQuery extends Query {
  readonly listing: Listing;
  readonly selection: LockSelection;
  readonly after: Uint8Array | null;
}

interface WaitsQuery extends Query {
  readonly lockName: LockName;
}

export class LockListingMethods {
  readonly #executor: Executor;
  readonly #member: Pick<HostMember, "uptimeMs">;

  constructor(executor: Executor, member: Pick<HostMember, "uptimeMs">) {
    this.#executor = executor;
    this.#member = member;
  }

  listLocks(call: Call, request: ListLocksRequest, reply: Reply<ListLocksResponse>): void {
    this.#executor.read(
      call,
      { access: "read", namespace: request.namespace },
      (state) => listingQuery(request, state),
      (replica, query) => lockPage(replica, query, this.#member.uptimeMs),
      reply,
      "locks",
    );
  }

  listLockWaits(call: Call, request: ListLockWaitsRequest, reply: Reply<ListLockWaitsResponse>): void {
    this.#executor.read(
      call,
      { access: "read", namespace: request.namespace },
      () => waitsQuery(request),
      (replica, { lockName }) => ({
        waits: lockWaits(listLockWaits(replica.state, lockName), replica.tickMs),
        revision: BigInt(replica.revision),
      }),
      reply,
      "locks",
    );
  }
}

function listingQuery(request: ListLocksRequest, state: StateReader): ListingQuery {
  const { inUseOnly, namesOnly, namePrefix, pageToken } = request;
  const namespace = namespaceField(request.namespace);
  const listing: Listing = {
    of: inUseOnly ? "locks-in-use" : "locks",
    namespace,
    prefix: lockPrefixField(namePrefix),
  };
  return {
    listing,
    selection: {
      namespace,
      prefix: namePrefix,
      inUseOnly,
      namesOnly,
      entriesMax: pageSizeField(request.pageSize),
      waitsMax: waitsMaxField(request.waitsMax),
      bytesMax: LISTING_BYTES_MAX,
    },
    after: pageToken === "" ? null : verifyPageToken(state, listing, pageToken),
    consistency: consistencyField(request.consistency),
  };
}

function waitsQuery(request: ListLockWaitsRequest): WaitsQuery {
  const namespace = namespaceField(request.namespace);
  return {
    lockName: { namespace, rw: request.rw, name: lockNameField("name", request.name) },
    consistency: consistencyField(request.consistency),
  };
}

/** @param countedMs for how long this member has counted refused guards. */
function lockPage(
  replica: HostReplica,
  { listing, selection, after }: ListingQuery,
  countedMs: number,
): ListLocksResponse {
  const { state, tickMs, revision, statistics } = replica;
  const { refusedGuards } = statistics;
  const page = listLocks(state, selection, after);
  return {
    locks: page.locks.map((listed): Lock => {
      const { lock } = listed;
      return selection.namesOnly
        ? Lock.fromPartial({ name: lock.name, rw: lock.rw, permits: lock.permits })
        : listedLock(listed, refusedGuards.of(lock), tickMs);
    }),
    nextPageToken: page.next === null ? "" : signPageToken(state, listing, page.next),
    refusedGuardsForMs: BigInt(countedMs),
    revision: BigInt(revision),
  };
}
