import { expect } from "chai";
import fc from "fast-check";
import {
  AppliedLog,
  createApiKey,
  createUser,
  FOUNDING,
  OWNER,
  TOKEN_SHA256,
  updateUser,
} from "../../../test/index.ts";
import { CoordinationError, type Role, type User } from "../core/index.ts";
import type { ClientOperation } from "../index.ts";
import { apiKeysOf, countUsers, listUsers, readUser, refusalOf } from "./principals.ts";

const ROLES: readonly Role[] = ["viewer", "member", "admin", "owner"];
const NAMES = ["u1", "u2", "u3", "u4", OWNER.subject];
const NAMESPACES = ["a", "b", "prod", "prod-eu", "*"];

const subject = fc.constantFrom(...NAMES);
const role = fc.constantFrom(...ROLES);
const namespaces = fc.uniqueArray(fc.constantFrom(...NAMESPACES), { maxLength: 3 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("create" as const), by: subject, userId: subject, role, namespaces }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("verify" as const), userId: subject }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("update" as const),
      by: subject,
      userId: subject,
      role: fc.option(role),
      namespaces: fc.option(namespaces),
      status: fc.option(fc.constantFrom("active" as const, "disabled" as const)),
      passwordHash: fc.option(fc.constantFrom("p", "q")),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), by: subject, userId: subject }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("key" as const), by: subject }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("revoke" as const), by: subject, key: fc.nat({ max: 20 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function holdsRole(actor: User, needed: Role): boolean {
  return ROLES.indexOf(actor.role) >= ROLES.indexOf(needed);
}

function holds(actor: User, namespace: string): boolean {
  return actor.namespaces.some((held) => held === "*" || held === namespace);
}

/** A log, the operations on it, and the rules that it must obey, written independently of the product. */
class Accounts {
  readonly log = new AppliedLog();
  /** Keys by number: their owners, and whether they have ended. */
  readonly keys: { readonly apiKeyId: string; readonly owner: string; over: boolean }[] = [];
  accepted = 0;

  constructor() {
    for (const [at, userId] of NAMES.slice(0, ROLES.length).entries()) {
      this.take({ do: "create", by: OWNER.subject, userId, role: ROLES[at] ?? "owner", namespaces: ["*"] });
      this.take({ do: "verify", userId });
    }
    expect(this.accepted).equal(2 * ROLES.length);
  }

  users(): Map<string, User> {
    return new Map(listUsers(this.log.store, null, 100, () => true).items.map((user) => [user.userId, user]));
  }

  take(each: Step): void {
    const before = this.users();
    const answer = this.#do(each);
    const after = this.users();
    if (answer instanceof CoordinationError) {
      expect(after, `${each.do} was refused, so nothing changed`).deep.equal(before);
    } else {
      this.accepted++;
      if ("by" in each) {
        this.#checkRights(each.by, before, after);
      }
      if (each.do === "revoke") {
        this.#checkRevocation(each.by, this.keys[each.key]?.owner, before);
      }
    }
    const owners = [...after.values()].filter((user) => user.role === "owner" && user.status === "active");
    expect(owners.length, "an active owner is left").greaterThan(0);
    expect(countUsers(this.log.store), "users are counted").equal(after.size);
    this.#checkKeys(after);
  }

  #do(each: Step): unknown {
    const { log } = this;
    if (each.do === "verify") {
      const { userId } = each;
      return log.lead({ kind: "verify-user", userId, tokenSha256: TOKEN_SHA256, passwordHash: "" })?.answer;
    }
    const principal = { subject: each.by, apiKeyId: "" };
    const ask = (operation: ClientOperation) => log.ask(operation, principal);
    switch (each.do) {
      case "create": {
        const answer = ask(createUser(each.userId, { role: each.role, namespaces: each.namespaces }));
        return answer;
      }
      case "update": {
        const { do: _do, by: _by, userId, ...changes } = each;
        return ask(updateUser(userId, changes));
      }
      case "delete": {
        const answer = ask({ kind: "delete-user", userId: each.userId });
        if (!(answer instanceof CoordinationError)) {
          this.#end((key) => key.owner === each.userId);
        }
        return answer;
      }
      case "key": {
        const apiKeyId = `k${this.keys.length}`;
        const answer = ask(createApiKey(apiKeyId));
        if (!(answer instanceof CoordinationError)) {
          this.keys.push({ apiKeyId, owner: each.by, over: false });
        }
        return answer;
      }
      case "revoke": {
        const apiKeyId = `k${each.key}`;
        const answer = ask({ kind: "revoke-api-key", apiKeyId });
        if (!(answer instanceof CoordinationError)) {
          this.#end((key) => key.apiKeyId === apiKeyId);
        }
        return answer;
      }
    }
  }

  #end(which: (key: Accounts["keys"][number]) => boolean): void {
    for (const key of this.keys) {
      key.over ||= which(key);
    }
  }

  /** An actor has the rights of everything that it adds, changes or removes. */
  #checkRights(by: string, before: ReadonlyMap<string, User>, after: ReadonlyMap<string, User>): void {
    const actor = before.get(by);
    if (actor === undefined || actor.status !== "active") {
      expect.fail(`${by} has no rights at all`);
    }
    for (const userId of new Set([...before.keys(), ...after.keys()])) {
      const [was, is] = [before.get(userId), after.get(userId)];
      if (JSON.stringify(was) === JSON.stringify(is)) {
        continue;
      }
      expect(["admin", "owner"], `${by} may change users`).include(actor.role);
      const [had, has] = [was?.namespaces ?? [], is?.namespaces ?? []];
      for (const record of [was, is]) {
        expect(record === undefined || holdsRole(actor, record.role), `${by} has the role of ${userId}`).equal(true);
      }
      for (const namespace of [...had, ...has]) {
        expect(holds(actor, namespace), `${by} holds ${namespace}`).equal(true);
      }
      expect(is?.role !== "owner" || has.join() === "*", "owners have all namespaces").equal(true);
    }
  }

  /** Users revoke their own keys; administrators also keys of users whose rights they have. */
  #checkRevocation(by: string, owner: string | undefined, users: ReadonlyMap<string, User>): void {
    const [actor, other] = [users.get(by), users.get(owner ?? "")];
    if (actor === undefined || other === undefined) {
      expect.fail(`${by} has revoked a key that no user has`);
    }
    if (by !== owner) {
      expect(["admin", "owner"], `${by} may revoke keys of others`).include(actor.role);
      expect(holdsRole(actor, other.role), `${by} has the role of ${owner}`).equal(true);
      expect(other.namespaces.every((namespace) => holds(actor, namespace))).equal(true);
    }
  }

  /** Ended keys stay ended, also if a user with the same id returns; and every user keeps the keys that are not ended. */
  #checkKeys(users: ReadonlyMap<string, User>): void {
    const { log } = this;
    for (const { apiKeyId, owner, over } of this.keys) {
      const reason = refusalOf(log.store, { subject: owner, apiKeyId }, null, log.wallMs)?.reason;
      const isLive = !over && users.get(owner)?.status === "active";
      expect(reason, apiKeyId).equal(isLive ? undefined : "TOKEN_REVOKED");
      for (const other of NAMES.filter((name) => name !== owner)) {
        const stolen = refusalOf(log.store, { subject: other, apiKeyId }, null, log.wallMs)?.reason;
        expect(stolen, `${apiKeyId} of ${other}`).equal("TOKEN_REVOKED");
      }
    }
    for (const userId of users.keys()) {
      const live = apiKeysOf(log.store, userId).filter(({ revokedAtMs }) => revokedAtMs === 0);
      const expected = this.keys.filter(({ owner, over }) => owner === userId && !over).map(({ apiKeyId }) => apiKeyId);
      const own = userId === OWNER.subject && readUser(log.store, userId) !== undefined;
      const ids = live.map(({ apiKeyId }) => apiKeyId).filter((id) => !(own && id === FOUNDING.owner.apiKeyId));
      expect(ids.sort(), userId).deep.equal(expected.sort());
    }
  }
}

describe("users, roles and API keys under random commands", () => {
  it("give no rights that the actor does not have, keep an owner, and never revive a revoked key", () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
        const accounts = new Accounts();
        for (const each of steps) {
          accounts.take(each);
        }
        accepted += accounts.accepted;
      }),
      { numRuns: 150 },
    );
    expect(accepted, "executed commands").greaterThan(600);
  });
});
