/** Tokens: from an API key, from a password, and verification of e-mail addresses. */

import { createPublicKey, randomBytes, randomUUID, verify } from "node:crypto";
import { expect } from "chai";
import {
  answered,
  claimsOf,
  expectHttpRefusal,
  getCluster,
  type HttpConnection,
  type KeyBody,
  succeeded,
  type Table,
  type TestContext,
} from "../harness/index.ts";

const TOO_MANY_BYTES = 20 * 1024 * 1024;
const PASSWORD = "correct horse battery";
const DAY_SECS = 86_400;

/** How every endpoint that takes JSON refuses bad bodies. */
export async function refusesBadBodies(
  connection: HttpConnection,
  method: "POST" | "PATCH",
  target: string,
): Promise<void> {
  const json = { "Content-Type": "application/json" };
  for (const body of ["", "{", "[]", "null", "1", '"x"', Buffer.from([0x7b, 0xff, 0x7d])]) {
    expectHttpRefusal(await connection.call(method, target, { headers: json, body }), "invalid_request");
  }
  for (const type of ["text/plain", "application/x-www-form-urlencoded", ""]) {
    const answer = await connection.call(method, target, { headers: { "Content-Type": type }, body: "{}" });
    expectHttpRefusal(answer, "unsupported_media_type");
  }
  // No API key counts as the right one.
  const untyped = await connection.call(method, target, { headers: { "Content-Type": null }, body: "[]" });
  expectHttpRefusal(untyped, "invalid_request");
  const large = Buffer.from(JSON.stringify({ text: "x".repeat(TOO_MANY_BYTES) }));
  const chunks = Array.from({ length: 20 }, (_, at) => large.subarray((at * large.length) / 20));
  for (const body of [large, chunks]) {
    expectHttpRefusal(await connection.call(method, target, { headers: json, body }), "payload_too_large");
  }
}

function expectNotStored({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): void {
  expect(headers["cache-control"], "Cache-Control").to.equal("no-store");
}

async function newKey(context: TestContext, fields: object = {}): Promise<KeyBody> {
  const answer = await context.http().call("POST", "/keys", { json: { name: context.name(), ...fields } });
  return answered(answer, 201) as unknown as KeyBody;
}

const exchange: Table = {
  name: "POST /auth/token",
  entries: {
    "gives a token that every member takes": async (context) => {
      const { key } = await newKey(context);
      const answer = await context.http(null).call("POST", "/auth/token", { json: { api_key: key } });
      expectNotStored(answer);
      const { access_token: token, ...rest } = answered(answer);
      expect(rest).to.deep.equal({ expires_in: 3_600, token_type: "Bearer" });
      const { sub, namespaces, access } = claimsOf(String(token));
      const { claims } = context.testRun;
      expect({ sub, namespaces, access }).to.deep.equal({
        sub: claims.sub,
        namespaces: claims.namespaces,
        access: claims.access,
      });
      succeeded(await context.testRun.at(context.elsewhere.endpoint, String(token)).call(getCluster, {}));
      answered(await context.httpElsewhere(String(token)).call("GET", "/keys"));
    },
    "gives it the requested life, at most a day, and returns the real one": async (context) => {
      const { key } = await newKey(context);
      for (const [asked, given] of [
        [null, 3_600],
        [1, 1],
        [DAY_SECS, DAY_SECS],
        [DAY_SECS + 1, DAY_SECS],
        [2 ** 53 - 1, DAY_SECS],
      ] as const) {
        const json = { api_key: key, expires_in_secs: asked };
        const body = answered(await context.http(null).call("POST", "/auth/token", { json }));
        const { exp, iat } = claimsOf(String(body.access_token)) as { exp: number; iat?: number };
        expect([body.expires_in, exp - (iat ?? 0)]).to.deep.equal([given, given]);
      }
      for (const expires_in_secs of [0, -1, 1.5, "60", true, []]) {
        const answer = await context
          .http(null)
          .call("POST", "/auth/token", { json: { api_key: key, expires_in_secs } });
        expect(expectHttpRefusal(answer, "invalid_request")).to.include("expires_in_secs");
      }
    },
    "never gives it a longer life than the key has": async (context) => {
      const { key, expires_at: expiresAt } = await newKey(context, { expires_in_days: 1 });
      const json = { api_key: key, expires_in_secs: DAY_SECS };
      const { access_token: token } = answered(await context.http(null).call("POST", "/auth/token", { json }));
      expect(claimsOf(String(token)).exp * 1000).to.be.at.most(Date.parse(expiresAt ?? ""));
    },
    "refuses all keys alike that give no token": async (context) => {
      const { key, api_key_id: id } = await newKey(context);
      answered(await context.http().call("DELETE", `/keys/${id}`));
      const other = `${key.slice(0, -1)}${key.endsWith("x") ? "y" : "x"}`;
      const messages = new Set<string>();
      for (const apiKey of [key, other, "", "x", `qk_${randomUUID()}`, "é".repeat(50)]) {
        const answer = await context.http(null).call("POST", "/auth/token", { json: { api_key: apiKey } });
        messages.add(expectHttpRefusal(answer, "invalid_api_key"));
      }
      expect(messages.size).to.equal(1);
    },
    "names the field that is missing or of a wrong type": async (context) => {
      for (const json of [
        {},
        { api_key: null },
        { api_key: 1 },
        { api_key: ["x"] },
        { API_KEY: "x" },
        { api_key: "x", extra: 1 },
      ]) {
        const answer = await context.http(null).call("POST", "/auth/token", { json });
        expect(expectHttpRefusal(answer, "invalid_request")).to.include("api_key");
      }
    },
    "refuses bodies that are no JSON object, or too large": (context) =>
      refusesBadBodies(context.http(null), "POST", "/auth/token"),
  },
};

const login: Table = {
  name: "POST /auth/login",
  entries: {
    "gives a token that every member takes, and says whose it is": async (context) => {
      const { member } = context.users;
      const json = { email: member.email.toUpperCase(), password: member.password };
      const answer = await context.http(null).call("POST", "/auth/login", { json });
      expectNotStored(answer);
      const { access_token: token, ...rest } = answered(answer);
      const user = { user_id: member.userId, email: member.email, role: "member", namespaces: ["*"] };
      expect(rest).to.deep.equal({ expires_in: 3_600, token_type: "Bearer", user });
      const { sub, namespaces, access } = claimsOf(String(token));
      expect({ sub, namespaces, access }).to.deep.equal({
        sub: member.userId,
        namespaces: ["*"],
        access: ["read", "write"],
      });
      succeeded(await context.testRun.at(context.elsewhere.endpoint, String(token)).call(getCluster, {}));
    },
    "gives an unknown user and a wrong password the same refusal": async (context) => {
      const { member } = context.users;
      const messages = new Set<string>();
      for (const [email, password] of [
        [context.testRun.accounts.newEmail(), PASSWORD],
        ["no address", PASSWORD],
        [member.email, `${PASSWORD}x`],
      ]) {
        const answer = await context.http(null).call("POST", "/auth/login", { json: { email, password } });
        messages.add(expectHttpRefusal(answer, "invalid_credentials"));
      }
      expect(messages.size).to.equal(1);
    },
    "says only to who knows the password that the address is not verified": async (context) => {
      const { accounts } = context.testRun;
      const { email } = await accounts.make(context.http());
      const attempt = (password: string) =>
        context.httpElsewhere(null).call("POST", "/auth/login", { json: { email, password } });
      expectHttpRefusal(await attempt(`${PASSWORD}x`), "invalid_credentials");
      expectHttpRefusal(await attempt(PASSWORD), "email_not_verified");
      const json = { token: await accounts.mailedToken(email) };
      answered(await context.http(null).call("POST", "/auth/verify", { json }));
      answered(await attempt(PASSWORD));
    },
    "names the field that is missing or of a wrong type": async (context) => {
      for (const [json, field] of [
        [{ password: "x" }, "email"],
        [{ email: "x" }, "password"],
        [{ email: null, password: "x" }, "email"],
        [{ email: "x", password: 1 }, "password"],
      ] as const) {
        const answer = await context.http(null).call("POST", "/auth/login", { json });
        expect(expectHttpRefusal(answer, "invalid_request")).to.include(field);
      }
    },
    "refuses bodies that are no JSON object, or too large": (context) =>
      refusesBadBodies(context.http(null), "POST", "/auth/login"),
  },
};

const verification: Table = {
  name: "POST /auth/verify",
  entries: {
    "takes the token that was mailed, once, at any member, with a password where none is set": async (context) => {
      const { accounts } = context.testRun;
      const { email, user_id: userId } = await accounts.make(context.http(), { password: null });
      const token = await accounts.mailedToken(email);
      const attempt = (json: object) => context.httpElsewhere(null).call("POST", "/auth/verify", { json });
      for (const [json, field] of [
        [{ token }, "password"],
        [{ token, password: "x".repeat(7) }, "password"],
        [{ token, password: "x".repeat(1_025) }, "password"],
        [{ token, password: 1 }, "password"],
        [{ token: `${token}x`, password: PASSWORD }, "token"],
        [{ token: `${randomUUID()}.${randomBytes(32).toString("base64url")}`, password: PASSWORD }, "token"],
        [{ password: PASSWORD }, "token"],
      ] as const) {
        expect(expectHttpRefusal(await attempt(json), "invalid_request")).to.include(field);
      }
      const password = "x".repeat(8);
      const answer = await attempt({ token, password });
      expectNotStored(answer);
      expect(answered(answer)).to.deep.equal({ verified: true });
      expectHttpRefusal(await attempt({ token, password }), "invalid_request");
      answered(await context.http(null).call("POST", "/auth/login", { json: { email, password } }));
      expect(answered(await context.http().call("GET", `/users/${userId}`)).status).to.equal("active");
    },
    "refuses bodies that are no JSON object, or too large": (context) =>
      refusesBadBodies(context.http(null), "POST", "/auth/verify"),
  },
};

const forgotten: Table = {
  name: "POST /auth/reset",
  entries: {
    "mails a token that sets another password, once, at any member": async (context) => {
      const { accounts } = context.testRun;
      const { email } = await accounts.make(context.http());
      const first = await accounts.mailedToken(email);
      answered(await context.http(null).call("POST", "/auth/verify", { json: { token: first } }));
      const asked = await context.httpElsewhere(null).call("POST", "/auth/reset", { json: { email } });
      expectNotStored(asked);
      expect(answered(asked)).to.deep.equal({ requested: true });
      const token = await accounts.mailedToken(email, first);
      const password = "x".repeat(8);
      const attempt = (json: object) => context.httpElsewhere(null).call("POST", "/auth/verify", { json });
      expect(expectHttpRefusal(await attempt({ token }), "invalid_request")).to.include("password");
      expect(answered(await attempt({ token, password }))).to.deep.equal({ verified: true });
      expect(expectHttpRefusal(await attempt({ token, password }), "invalid_request")).to.include("token");
      answered(await context.http(null).call("POST", "/auth/login", { json: { email, password } }));
    },
    "has the same answer for an address without a user, and names a bad field": async (context) => {
      const { accounts } = context.testRun;
      accounts.requireMail();
      const attempt = (json: object) => context.http(null).call("POST", "/auth/reset", { json });
      expect(answered(await attempt({ email: accounts.newEmail() }))).to.deep.equal({ requested: true });
      for (const json of [{}, { email: "x" }, { email: 1 }]) {
        expect(expectHttpRefusal(await attempt(json), "invalid_request")).to.include("email");
      }
    },
    "refuses bodies that are no JSON object, or too large": (context) =>
      refusesBadBodies(context.http(null), "POST", "/auth/reset"),
  },
};

const publicKeys: Table = {
  name: "GET /.well-known/jwks.json",
  entries: {
    "has the key that verifies a token, and nothing that is secret": async (context) => {
      const { keys } = answered(await context.http(null).call("GET", "/.well-known/jwks.json"));
      const [header = "", payload, signature = ""] = context.testRun.target.token.split(".");
      const { kid, alg } = JSON.parse(Buffer.from(header, "base64url").toString());
      const jwk =
        (keys as { kid: string; x: string }[]).find((key) => key.kid === kid) ?? expect.fail(`there is no key ${kid}`);
      expect({ ...jwk, x: "" }).to.deep.equal({ kty: "OKP", crv: "Ed25519", x: "", kid, use: "sig", alg: "EdDSA" });
      expect(alg).to.equal("EdDSA");
      const signed = Buffer.from(`${header}.${payload}`);
      const key = createPublicKey({ key: { ...jwk }, format: "jwk" });
      expect(verify(null, signed, key, Buffer.from(signature, "base64url"))).to.equal(true);
    },
  },
};

export const accountsLogin: readonly Table[] = [exchange, login, verification, forgotten, publicKeys];
