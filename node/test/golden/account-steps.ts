/** The part of the golden log about users, API keys, signing keys, settings and usage. */

import { done, type GoldenLog, refusedWith } from "./golden-log.ts";
import {
  ANNA,
  ANNA_API_KEY,
  ANNA_EMAIL,
  apiKeyOf,
  BEN,
  CARL,
  idBytes,
  idOf,
  OWNER,
  OWNER_BY_KEY,
  OWNER_EMAIL,
  sha256,
  signingKeyOf,
  TOKEN_SHA256,
} from "./identities.ts";

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** Longer than the usage of an hour is kept. */
const USAGE_HOURS_MS = 110 * DAY_MS;
const UNCHANGED = { role: null, namespaces: null, status: null, passwordHash: null, knownPasswordVersion: null };

/** What an administrator's request is known by again. */
export function identityOf(request: number): { readonly requestId: Uint8Array; readonly payloadHash: Uint8Array } {
  return { requestId: idBytes(request), payloadHash: sha256(idBytes(request)) };
}

/** @param passwordHash of Anna */
export function writeAccounts(log: GoldenLog, passwordHash: string): void {
  writeOldUsage(log);
  writeUsers(log, passwordHash);
  writeApiKeys(log);
  writeSigningKeys(log);
  writeSettings(log);
}

/** Usage of hours that are over by now. Some of it is dropped. */
function writeOldUsage(log: GoldenLog): void {
  done(log.client({ kind: "create-namespace", namespace: "golden" }));
  const uses = [
    { principal: OWNER_BY_KEY, requests: 12, kvOperations: 7, lockOperations: 3, memoryOperations: 2 },
    // Only that the key was used.
    { principal: OWNER_BY_KEY, requests: 0, kvOperations: 0, lockOperations: 0, memoryOperations: 0 },
  ];
  log.cluster({ kind: "report-use", uses });
  log.pass(USAGE_HOURS_MS);
  log.cluster({ kind: "prune-usage", countMax: 1 });
  log.cluster({ kind: "prune-usage", countMax: 100 });
}

function writeUsers(log: GoldenLog, passwordHash: string): void {
  const token = { tokenSha256: TOKEN_SHA256, tokenLifetimeMs: WEEK_MS };
  const user = { kind: "create-user", role: "member", namespaces: ["default", "golden"], passwordHash: "" } as const;
  done(log.client({ ...user, ...token, userId: ANNA.subject, email: ANNA_EMAIL }));
  refusedWith("USER_EXISTS", log.client({ ...user, ...token, userId: idOf(13), email: ANNA_EMAIL }));
  log.cluster({ kind: "verify-user", userId: ANNA.subject, tokenSha256: sha256(TOKEN_SHA256), passwordHash: "" });
  log.cluster({ kind: "verify-user", userId: ANNA.subject, tokenSha256: TOKEN_SHA256, passwordHash: "unused" });
  done(log.client({ ...UNCHANGED, kind: "update-user", userId: ANNA.subject, passwordHash }));
  const admin = { role: "admin", namespaces: ["*"], passwordHash } as const;
  done(log.client({ ...user, ...token, ...admin, userId: BEN.subject, email: "ben@golden.example" }));
  log.cluster({ kind: "verify-user", userId: BEN.subject, tokenSha256: TOKEN_SHA256, passwordHash: "" });
  done(
    log.client({ ...user, ...token, userId: CARL.subject, email: "Carl.Ünïcode@golden.example", role: "viewer" }, BEN),
  );
  const dora = log.newRequest();
  done(log.client({ ...user, ...token, userId: idOf(14), email: "dora@golden.example" }, OWNER, dora));
  done(log.client({ ...user, ...token, userId: idOf(17), email: "dora@golden.example" }, OWNER, dora));
  done(log.client({ kind: "delete-user", userId: idOf(14) }));
  refusedWith("LAST_OWNER", log.client({ kind: "delete-user", userId: OWNER.subject }));
  const disabled = { kind: "update-user", userId: BEN.subject, status: "disabled" } as const;
  done(log.client({ ...UNCHANGED, ...disabled }));
  refusedWith("TOKEN_REVOKED", log.client({ kind: "delete-user", userId: CARL.subject }, BEN));
  done(
    log.client({ ...UNCHANGED, ...disabled, status: "active", role: "admin", namespaces: ["default", "golden", "*"] }),
  );
  const own = { kind: "update-user", userId: BEN.subject, passwordHash, knownPasswordVersion: 0 } as const;
  done(log.client({ ...UNCHANGED, ...own }, BEN));
  refusedWith("TOKEN_REVOKED", log.client({ ...UNCHANGED, ...own }, BEN));
  const apiKey = { apiKeyId: idOf(3), ...apiKeyOf(`qk_goldRset_${"R".repeat(43)}`) };
  const reset = { kind: "reset-owner", userId: idOf(15), passwordHash, subject: "administrator" } as const;
  log.cluster({ ...reset, email: "second@golden.example", apiKey, request: identityOf(101) });
  log.cluster({ ...reset, email: "second@golden.example", apiKey, request: identityOf(101) });
  log.cluster({ ...reset, email: "second@golden.example", apiKey: null, request: null });
  log.cluster({ ...reset, email: OWNER_EMAIL, userId: idOf(16), passwordHash, apiKey, request: null });
}

function writeApiKeys(log: GoldenLog): void {
  const key = { kind: "create-api-key", name: "golden key", lifetimeMs: 0 } as const;
  const request = log.newRequest();
  done(log.client({ ...key, apiKeyId: idOf(20), ...apiKeyOf(ANNA_API_KEY) }, ANNA, request));
  done(log.client({ ...key, apiKeyId: idOf(23), ...apiKeyOf(`qk_goldNevr_${"N".repeat(43)}`) }, ANNA, request));
  done(
    log.client({ ...key, apiKeyId: idOf(21), ...apiKeyOf(`qk_goldShrt_${"S".repeat(43)}`), lifetimeMs: DAY_MS }, ANNA),
  );
  done(log.client({ ...key, apiKeyId: idOf(22), ...apiKeyOf(`qk_goldRvkd_${"V".repeat(43)}`) }));
  done(log.client({ kind: "revoke-api-key", apiKeyId: idOf(22) }));
  refusedWith("API_KEY_NOT_FOUND", log.client({ kind: "revoke-api-key", apiKeyId: OWNER_BY_KEY.apiKeyId }, ANNA));
}

function writeSigningKeys(log: GoldenLog): void {
  const rotate = { kind: "rotate-signing-key", subject: "administrator" } as const;
  log.cluster({ ...rotate, ...signingKeyOf(2), ifKid: "golden-signing-key-1", request: null });
  log.cluster({ ...rotate, ...signingKeyOf(9), ifKid: "golden-signing-key-1", request: identityOf(102) });
  log.cluster({ ...rotate, ...signingKeyOf(9), ifKid: "golden-signing-key-1", request: identityOf(102) });
  log.pass(2 * DAY_MS);
  log.cluster({ kind: "drop-signing-keys" });
  log.cluster({ ...rotate, ...signingKeyOf(3), ifKid: "", subject: "", request: null });
}

function writeSettings(log: GoldenLog): void {
  const put = { kind: "put-settings", ifRevision: 0, subject: "administrator", request: null } as const;
  const values = [
    { name: "queue.duplicate_window_secs", value: "7200" },
    { name: "token.lifetime_secs", value: "1800" },
    { name: "quota.namespace.keys", value: "1000" },
    { name: "quota.namespace.golden.locks", value: "2" },
    { name: "quota.namespace.golden.watches", value: "17" },
  ];
  log.cluster({ ...put, values, request: identityOf(103) });
  log.cluster({ ...put, values, request: identityOf(103) });
  log.cluster({ ...put, values: [{ name: "no.such.setting", value: "1" }] });
  log.cluster({ ...put, values: [{ name: "token.lifetime_secs", value: "" }], ifRevision: 1 });
  log.cluster({ ...put, values: [{ name: "token.lifetime_secs", value: "60" }], ifRevision: 1 });
}
