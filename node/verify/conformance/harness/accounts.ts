/** Users of a run: created with its token, verified with a mailed token, and deleted at its end. */

import { expect } from "chai";
import { answered, type HttpConnection } from "./http-connection.ts";
import type { Mailbox } from "./mailbox.ts";
import { NotApplicable } from "./not-applicable.ts";

export type Role = "viewer" | "member" | "admin" | "owner";

export interface TestUser {
  readonly userId: string;
  readonly email: string;
  readonly password: string;
  /** Token of a login. */
  readonly token: string;
}

/** A user as in answers. */
export interface UserBody {
  readonly user_id: string;
  readonly email: string;
  readonly role: Role;
  readonly namespaces: readonly string[];
  readonly status: string;
  readonly created_at: string;
}

/** A new API key as in the answer that creates it, the only one that shows the key. */
export interface KeyBody {
  readonly api_key_id: string;
  readonly name: string;
  readonly key: string;
  readonly created_at: string;
  readonly expires_at: string | null;
}

const PASSWORD = "correct horse battery";
const PAGE_SIZE = 1_000;

export class Accounts {
  readonly #prefix: string;
  readonly #mailbox: Mailbox;
  #count = 0;

  /** @param prefix of all addresses */
  constructor(prefix: string, mailbox: Mailbox) {
    this.#prefix = prefix;
    this.#mailbox = mailbox;
  }

  /** An address that no user has. */
  newEmail(): string {
    this.#count++;
    return `${this.#prefix}-${this.#count}@example.com`;
  }

  /** Creates a user, whose address is not verified, with the connection's token. */
  async make(connection: HttpConnection, fields: object = {}): Promise<UserBody> {
    const user = { email: this.newEmail(), password: PASSWORD, role: "member", namespaces: ["*"], ...fields };
    return answered(await connection.call("POST", "/users", { json: user }), 201) as unknown as UserBody;
  }

  /** Raises NotApplicable if mail cannot be read. */
  requireMail(): void {
    if (!this.#mailbox.isThere) {
      throw new NotApplicable("mail of the cluster cannot be read: name the logs of its members with --mail-log");
    }
  }

  /** The token that was mailed to the address, after the token `before`. Raises NotApplicable if mail cannot be read. */
  async mailedToken(email: string, before?: string): Promise<string> {
    this.requireMail();
    return await this.#mailbox.tokenFor(email, before);
  }

  /** Creates a user with the connection's token, verifies the address, and logs in. */
  async logInNew(connection: HttpConnection, role: Role, namespaces: readonly string[]): Promise<TestUser> {
    const { user_id: userId, email } = await this.make(connection, { password: null, role, namespaces });
    const verification = { token: await this.mailedToken(email), password: PASSWORD };
    expect(answered(await connection.call("POST", "/auth/verify", { json: verification }))).to.deep.equal({
      verified: true,
    });
    const user = { userId, email, password: PASSWORD };
    return { ...user, token: await this.logIn(connection, user) };
  }

  async logIn(connection: HttpConnection, user: Omit<TestUser, "token">): Promise<string> {
    const { email, password } = user;
    return String(answered(await connection.call("POST", "/auth/login", { json: { email, password } })).access_token);
  }

  /** Deletes all users whose addresses are of this run. */
  async removeAll(connection: HttpConnection): Promise<void> {
    let cursor = "";
    do {
      const page = answered(await connection.call("GET", `/users?limit=${PAGE_SIZE}${cursor}`));
      for (const { user_id: userId, email } of page.users as UserBody[]) {
        if (email.includes(this.#prefix)) {
          await connection.call("DELETE", `/users/${userId}`);
        }
      }
      cursor = page.next_cursor === null ? "" : `&cursor=${encodeURIComponent(String(page.next_cursor))}`;
    } while (cursor !== "");
  }
}
