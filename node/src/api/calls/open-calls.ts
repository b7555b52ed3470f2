/**
 * What clients hold of a port of gRPC at the moment: calls that are open, and bytes of their requests, for the whole
 * port, each remote address and each user.
 *
 * A call begins as unverified. It becomes a call or a stream of a user when its token is verified, or an open call if
 * its method needs no token, or it is refused and counts as unverified until the client lets it go. Streams and other
 * calls count apart, so neither can keep the other out.
 */

import { CoordinationError } from "../../state/index.ts";
import { type ClientLimits, REQUEST_MS, type ScopedLimit } from "../connections/index.ts";

/** What a call is counted as, as the limits name it. */
type Kind = "calls" | "streams" | "unverifiedCalls" | "openCalls";
type Scope = keyof ScopedLimit;
/** The limits by which calls are refused; the last one is that of time, which each call has for itself. */
type Limit = Kind | "requestBytes" | "requestMs";

/** What one client holds. */
class Holdings implements Record<Kind | "requestBytes", number> {
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
 * What a piece of a request costs beside its bytes: the object that holds it. A message in pieces of one byte would
 * otherwise take a hundred times what is counted.
 */
const PIECE_BYTES = 256;
/** So many clients are remembered, whether or not they have open calls. */
const HOLDINGS_KEPT = 1_000;
const WORDS: Readonly<Record<Kind, string>> = {
  calls: "open calls",
  streams: "open streams",
  unverifiedCalls: "calls without a verified token",
  openCalls: "open calls that need no token",
};

const HOLDERS: Readonly<Record<Scope, string>> = {
  member: "this port of the member",
  address: "the address of this client",
  user: "the user of this token",
};

export class OpenCalls {
  readonly limits: ClientLimits;
  /** How many calls were refused, by the limit and its scope. */
  readonly refusals = new Map<Limit, Map<Scope, number>>();
  readonly #member = new Holdings();
  readonly #addresses = new HoldingsByName();
  readonly #users = new HoldingsByName();

  constructor(limits: ClientLimits) {
    this.limits = limits;
  }

  /** Begins to count a call from this address, as unverified. */
  arrive(address: string): OpenCall {
    return new OpenCall(this, this.#member, this.#addresses.of(address));
  }

  /** What the user holds. */
  user(subject: string): Holdings {
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
      ? new CoordinationError("OVERLOADED", `${HOLDERS[scope]} has ${max} bytes of requests on their way`, { details })
      : new CoordinationError("TOO_MANY_STREAMS", `${HOLDERS[scope]} has ${max} ${WORDS[limit]}`, { details });
  }

  /** Counts the refusal of a call whose request is not complete in time, and returns it. It was not executed. */
  lateRefusal(): CoordinationError {
    this.#countRefusal("requestMs", "member");
    return new CoordinationError("DEADLINE", `the request was not complete within ${REQUEST_MS} ms of its headers`);
  }

  #countRefusal(limit: Limit, scope: Scope): void {
    const scopes = this.refusals.get(limit) ?? new Map<Scope, number>();
    this.refusals.set(limit, scopes.set(scope, (scopes.get(scope) ?? 0) + 1));
  }
}

/** One call, from its headers until its stream is closed. */
export class OpenCall {
  readonly #calls: OpenCalls;
  readonly #member: Holdings;
  readonly #ofAddress: Holdings;
  #ofUser: Holdings | null = null;
  #kind: Kind = "unverifiedCalls";
  #bytes = 0;

  constructor(calls: OpenCalls, member: Holdings, ofAddress: Holdings) {
    this.#calls = calls;
    this.#member = member;
    this.#ofAddress = ofAddress;
    this.#count(1);
  }

  /**
   * Whether the address or the port has more unverified calls than it may have, this one included.
   *
   * @param factor of the limit.
   */
  isBeyondUnverified(factor: number): boolean {
    const { member, address } = this.#calls.limits.unverifiedCalls;
    return this.#ofAddress.unverifiedCalls > factor * address || this.#member.unverifiedCalls > factor * member;
  }

  /** The refusal of a call that is beyond the limit of unverified ones. */
  unverifiedRefusal(): CoordinationError {
    const { member, address } = this.#calls.limits.unverifiedCalls;
    return this.#ofAddress.unverifiedCalls > address
      ? this.#calls.refusal("unverifiedCalls", "address", address)
      : this.#calls.refusal("unverifiedCalls", "member", member);
  }

  /** The refusal of a call whose request is not complete in time. */
  lateRefusal(): CoordinationError {
    return this.#calls.lateRefusal();
  }

  /** Counts the call as one that needs no token. Raises TOO_MANY_STREAMS, and changes nothing. */
  admitOpen(): void {
    const { member, address } = this.#calls.limits.openCalls;
    this.#require("openCalls", "address", this.#ofAddress, address);
    this.#require("openCalls", "member", this.#member, member);
    this.#become("openCalls");
  }

  /** Counts the call as one of the user. Raises TOO_MANY_STREAMS, and changes nothing. */
  admit(kind: "calls" | "streams", subject: string): void {
    const { member, address, user } = this.#calls.limits[kind];
    this.#require(kind, "address", this.#ofAddress, address);
    this.#require(kind, "member", this.#member, member);
    const ofUser = this.#calls.user(subject);
    this.#require(kind, "user", ofUser, user);
    this.#count(-1);
    this.#kind = kind;
    this.#ofUser = ofUser;
    this.#count(1);
    ofUser.requestBytes += this.#bytes;
  }

  /** Counts a piece of the request. Raises OVERLOADED if there is no room for it. */
  addBytes(bytes: number): void {
    const cost = bytes + PIECE_BYTES;
    this.#bytes += cost;
    this.#countBytes(cost);
    const { member, address, user } = this.#calls.limits.requestBytes;
    if (this.#ofUser !== null && this.#ofUser.requestBytes > user) {
      throw this.#calls.refusal("requestBytes", "user", user);
    }
    if (this.#ofAddress.requestBytes > address) {
      throw this.#calls.refusal("requestBytes", "address", address);
    }
    if (this.#member.requestBytes > member) {
      throw this.#calls.refusal("requestBytes", "member", member);
    }
  }

  /** Counts the call as one that the client must let go of. */
  refuse(): void {
    this.#become("unverifiedCalls");
  }

  /** The stream of the call is closed. To be called once. */
  leave(): void {
    this.#count(-1);
    this.#countBytes(-this.#bytes);
  }

  #require(kind: Kind, scope: Scope, holdings: Holdings, limit: number): void {
    if (holdings[kind] >= limit) {
      throw this.#calls.refusal(kind, scope, limit);
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
    if (this.#ofUser !== null) {
      this.#ofUser[this.#kind] += change;
    }
  }

  #countBytes(change: number): void {
    this.#member.requestBytes += change;
    this.#ofAddress.requestBytes += change;
    if (this.#ofUser !== null) {
      this.#ofUser.requestBytes += change;
    }
  }
}

/**
 * Holdings by the name of their client. Empty ones are kept until there are many: a client without an open call is
 * likely to open another one.
 */
class HoldingsByName {
  readonly #all = new Map<string, Holdings>();
  #sizeMax = HOLDINGS_KEPT;

  of(name: string): Holdings {
    let holdings = this.#all.get(name);
    if (holdings === undefined) {
      if (this.#all.size >= this.#sizeMax) {
        this.#forgetEmpty();
      }
      holdings = new Holdings();
      this.#all.set(name, holdings);
    }
    return holdings;
  }

  #forgetEmpty(): void {
    for (const [name, holdings] of this.#all) {
      if (holdings.isEmpty) {
        this.#all.delete(name);
      }
    }
    // Twice as many as are in use, so that the search is rare.
    this.#sizeMax = Math.max(HOLDINGS_KEPT, 2 * this.#all.size);
  }
}
