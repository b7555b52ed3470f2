/**
 * Counts what clients use of a gRPC port at the moment: open calls, and bytes of their requests, for the whole port,
 * each remote address and each user.
 *
 * A call begins as unverified. It becomes a call or a stream of a user when its token is verified, or an open call if
 * its method needs no token. A refused call counts as unverified until the client closes it. Streams and other calls
 * have separate counts, so neither can use up the limit of the other.
 *
 * Neither can a few clients use up what all of them have together: an address or a user may have at most as much as is
 * left for the others, unless its own limit is that of the whole port. So one has half of it at most, two have two
 * thirds, and something is left for the next. The users of one address share what that address may have in the same way.
 */

import { CoordinationError } from "../../state/index.ts";
import { type ClientLimits, REQUEST_MS, type ScopedLimit } from "../connections/index.ts";

/** The kinds by which calls are counted; the names are those of the limits. */
type Kind = "calls" | "streams" | "unverifiedCalls" | "openCalls";
type Scope = keyof ScopedLimit;
/**
 * The limits by which calls are refused. `requestMs` is the time limit, which applies to each call by itself;
 * `otherRequests` counts what is no call of a method.
 */
type Limit = Kind | "requestBytes" | "requestMs" | "otherRequests";

/** The open calls and request bytes of one client. */
class OpenCounts implements Record<Kind | "requestBytes", number> {
  calls = 0;
  streams = 0;
  unverifiedCalls = 0;
  openCalls = 0;
  requestBytes = 0;

  get isEmpty(): boolean {
    // Without calls there are no bytes.
    return this.calls + this.streams + this.unverifiedCalls + this.openCalls === 0;
  }
}

/**
 * Bytes that a piece of a request costs besides its data: the object around it. Without it, a message in pieces of one
 * byte would take a hundred times the counted memory.
 */
const PIECE_BYTES = 256;
/** Numbers of clients of a port, and of users of an address, to keep even if they have no open calls. */
const CLIENTS_COUNTED_MIN = 1_000;
const USERS_COUNTED_MIN = 16;
const KIND_LABELS: Readonly<Record<Kind, string>> = {
  calls: "open calls",
  streams: "open streams",
  unverifiedCalls: "calls without a verified token",
  openCalls: "open calls that need no token",
};

const SCOPE_LABELS: Readonly<Record<Scope, string>> = {
  member: "this port of the member",
  address: "the address of this client",
  user: "the user of this token",
};

export class OpenCalls {
  readonly limits: ClientLimits;
  /** Number of refused calls, by the limit and its scope. */
  readonly refusals = new Map<Limit, Map<Scope, number>>();
  readonly #member = new OpenCounts();
  readonly #addresses = new OpenCountsByName(CLIENTS_COUNTED_MIN, () => new AddressCounts());
  readonly #users = new OpenCountsByName(CLIENTS_COUNTED_MIN, () => new OpenCounts());

  constructor(limits: ClientLimits) {
    this.limits = limits;
  }

  /** Begins to count a call from this address, as unverified. */
  arrive(address: string): OpenCall {
    return new OpenCall(this, this.#member, this.#addresses.of(address));
  }

  /** Returns the counts of a user. */
  user(subject: string): OpenCounts {
    return this.#users.of(subject);
  }

  /** Counts the refusal of a call, and returns it. */
  refusal(limit: Kind | "requestBytes", scope: Scope, max: number): CoordinationError {
    this.#countRefusal(limit, scope);
    const details = new Map([
      ["limit", String(max)],
      ["scope", scope],
    ]);
    return limit === "requestBytes"
      ? new CoordinationError("OVERLOADED", `${SCOPE_LABELS[scope]} has ${max} bytes of open requests`, { details })
      : new CoordinationError("TOO_MANY_STREAMS", `${SCOPE_LABELS[scope]} has ${max} ${KIND_LABELS[limit]}`, {
          details,
        });
  }

  /** Counts the refusal of a call whose request is not complete in time, and returns it. It was not executed. */
  lateRefusal(): CoordinationError {
    this.#countRefusal("requestMs", "member");
    return new CoordinationError("DEADLINE", `the request was not complete within ${REQUEST_MS} ms of its headers`);
  }

  /** Counts the refusal of a request that is no call of a method. */
  countOtherRequest(): void {
    this.#countRefusal("otherRequests", "member");
  }

  #countRefusal(limit: Limit, scope: Scope): void {
    const scopes = this.refusals.get(limit) ?? new Map<Scope, number>();
    this.refusals.set(limit, scopes.set(scope, (scopes.get(scope) ?? 0) + 1));
  }
}

/** One call, from its headers until its stream is closed. */
export class OpenCall {
  readonly #calls: OpenCalls;
  readonly #member: OpenCounts;
  readonly #ofAddress: AddressCounts;
  #ofUser: OpenCounts | null = null;
  #ofUserHere: OpenCounts | null = null;
  #kind: Kind = "unverifiedCalls";
  #bytes = 0;

  constructor(calls: OpenCalls, member: OpenCounts, ofAddress: AddressCounts) {
    this.#calls = calls;
    this.#member = member;
    this.#ofAddress = ofAddress;
    this.#count(1);
  }

  /**
   * Whether the address or the port has more unverified calls than allowed, including this one.
   *
   * @param factor multiplies the limit.
   */
  isBeyondUnverified(factor: number): boolean {
    const { member, address } = this.#calls.limits.unverifiedCalls;
    const used = this.#member.unverifiedCalls;
    return this.#ofAddress.unverifiedCalls > factor * shareOf(address, member, used) || used > factor * member;
  }

  /** The refusal of a call above the limit of unverified calls. */
  unverifiedRefusal(): CoordinationError {
    const { member, address } = this.#calls.limits.unverifiedCalls;
    const { unverifiedCalls: used } = this.#member;
    return used <= member && this.#ofAddress.unverifiedCalls > shareOf(address, member, used)
      ? this.#calls.refusal("unverifiedCalls", "address", this.#ofAddress.unverifiedCalls - 1)
      : this.#calls.refusal("unverifiedCalls", "member", member);
  }

  /** The refusal of a call whose request is not complete in time. */
  lateRefusal(): CoordinationError {
    return this.#calls.lateRefusal();
  }

  /** Counts the call as one that needs no token. Throws TOO_MANY_STREAMS, and then changes nothing. */
  admitOpen(): void {
    this.#requireRoom("openCalls");
    this.#requireShare("openCalls", "address", this.#ofAddress, this.#calls.limits.openCalls.address);
    this.#become("openCalls");
  }

  /** Counts the call as one of the user. Throws TOO_MANY_STREAMS, and then changes nothing. */
  admit(kind: "calls" | "streams", subject: string): void {
    const { member, address, user } = this.#calls.limits[kind];
    this.#requireRoom(kind);
    this.#requireShare(kind, "address", this.#ofAddress, address);
    const ofUser = this.#calls.user(subject);
    this.#requireShare(kind, "user", ofUser, user);
    const ofUserHere = this.#ofAddress.users.of(subject);
    if (address < member && ofUserHere[kind] >= address - this.#ofAddress[kind]) {
      throw this.#calls.refusal(kind, "user", ofUserHere[kind]);
    }
    this.#count(-1);
    this.#kind = kind;
    this.#ofUser = ofUser;
    this.#ofUserHere = ofUserHere;
    this.#count(1);
    ofUser.requestBytes += this.#bytes;
    ofUserHere.requestBytes += this.#bytes;
  }

  /** Counts a piece of the request. Throws OVERLOADED if it exceeds a limit. */
  addBytes(bytes: number): void {
    const cost = bytes + PIECE_BYTES;
    this.#bytes += cost;
    this.#countBytes(cost);
    const { member, address, user } = this.#calls.limits.requestBytes;
    const { requestBytes: used } = this.#member;
    if (used > member) {
      throw this.#calls.refusal("requestBytes", "member", member);
    }
    const ofUser = shareOf(user, member, used);
    if (this.#ofUser !== null && this.#ofUser.requestBytes > ofUser) {
      throw this.#calls.refusal("requestBytes", "user", ofUser);
    }
    const ofUserHere = address - this.#ofAddress.requestBytes;
    if (address < member && this.#ofUserHere !== null && this.#ofUserHere.requestBytes > ofUserHere) {
      throw this.#calls.refusal("requestBytes", "user", ofUserHere);
    }
    const ofAddress = shareOf(address, member, used);
    if (this.#ofAddress.requestBytes > ofAddress) {
      throw this.#calls.refusal("requestBytes", "address", ofAddress);
    }
  }

  /** Counts the call as refused: the client must close it. */
  refuse(): void {
    this.#become("unverifiedCalls");
  }

  /** Notes that the stream of the call is closed. Call it once. */
  close(): void {
    this.#count(-1);
    this.#countBytes(-this.#bytes);
  }

  #requireRoom(kind: Kind): void {
    const { member } = this.#calls.limits[kind];
    if (this.#member[kind] >= member) {
      throw this.#calls.refusal(kind, "member", member);
    }
  }

  #requireShare(kind: Kind, scope: Scope, counts: OpenCounts, limit: number): void {
    if (counts[kind] >= shareOf(limit, this.#calls.limits[kind].member, this.#member[kind])) {
      throw this.#calls.refusal(kind, scope, counts[kind]);
    }
  }

  #become(kind: Kind): void {
    this.#count(-1);
    this.#kind = kind;
    this.#count(1);
  }

  #count(change: 1 | -1): void {
    this.#member[this.#kind] += change;
    this.#ofAddress[this.#kind] += change;
    if (this.#ofUser !== null && this.#ofUserHere !== null) {
      this.#ofUser[this.#kind] += change;
      this.#ofUserHere[this.#kind] += change;
    }
  }

  #countBytes(change: number): void {
    this.#member.requestBytes += change;
    this.#ofAddress.requestBytes += change;
    if (this.#ofUser !== null && this.#ofUserHere !== null) {
      this.#ofUser.requestBytes += change;
      this.#ofUserHere.requestBytes += change;
    }
  }
}

/** What an address or a user may have: its limit, and at most what is left for the others. */
function shareOf(limit: number, ofPort: number, used: number): number {
  return limit < ofPort ? Math.min(limit, ofPort - used) : limit;
}

/**
 * Counts by client. Empty counts are kept until there are many, because a client without an open call will probably
 * open another one.
 */
class OpenCountsByName<Counts extends OpenCounts> {
  readonly #sizeMin: number;
  readonly #create: () => Counts;
  readonly #all = new Map<string, Counts>();
  #sizeMax: number;

  constructor(sizeMin: number, create: () => Counts) {
    this.#sizeMin = sizeMin;
    this.#create = create;
    this.#sizeMax = sizeMin;
  }

  of(name: string): Counts {
    let counts = this.#all.get(name);
    if (counts === undefined) {
      if (this.#all.size >= this.#sizeMax) {
        this.#forgetEmpty();
      }
      counts = this.#create();
      this.#all.set(name, counts);
    }
    return counts;
  }

  #forgetEmpty(): void {
    for (const [name, counts] of this.#all) {
      if (counts.isEmpty) {
        this.#all.delete(name);
      }
    }
    // Twice the number in use, so that the search is rare.
    this.#sizeMax = Math.max(this.#sizeMin, 2 * this.#all.size);
  }
}

/** The open calls and request bytes of one address, and those of each of its users there. */
class AddressCounts extends OpenCounts {
  readonly users = new OpenCountsByName(USERS_COUNTED_MIN, () => new OpenCounts());
}
