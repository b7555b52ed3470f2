export { Access } from "./access.ts";
export { AccountMail } from "./account-mail.ts";
export { apiKeyPrefix, createApiKeyMaterial, generateApiKey } from "./api-key.ts";
export { bearerToken } from "./authorization-header.ts";
export type { Caller } from "./caller.ts";
export type { Claims } from "./claims.ts";
export { requireEmail } from "./email.ts";
export { createFounding, type FoundingRequest, type OwnerCredentials, ownerCredentials } from "./founding.ts";
export type { HashJob } from "./hash-queue.ts";
export { accountName, type LoginOutcome, Logins } from "./login.ts";
export { logMailer, type Mailer, type MailLog, smtpMailer } from "./mailer.ts";
export { type Listing, signPageToken, verifyPageToken } from "./page-token.ts";
export { type Derive, deriveInPool, hashPassword, saltOf } from "./password.ts";
export { hashForRecord, type PasswordHashing, QueuedHashing } from "./password-hashing.ts";
export { createPasswordReset, openPasswordReset } from "./password-reset.ts";
export { RateLimiter, type RateLimiters, RETRY_AFTER_DETAIL, rateLimiters, retryAfterMs } from "./rate-limiter.ts";
export { DEFAULT_RATE_LIMITS, type RateLimit, type RateLimits } from "./rate-limits.ts";
export { ReplicatedRateLimits } from "./replicated-rate-limits.ts";
export { type ReplicatedState, readBarrier } from "./replicated-state.ts";
export { type LeadingMember, SigningKeyRotation } from "./signing-key-rotation.ts";
export { generateSigningKey, publicJwks } from "./signing-ring.ts";
export type { IssuedToken } from "./token-issuer.ts";
export { type ReadArea, type ReportDone, UseReports } from "./use-reports.ts";
export {
  isAwaited,
  openVerification,
  VERIFICATION_LIFETIME_MS,
  type VerificationToken,
  verificationSecret,
  verificationToken,
} from "./verification.ts";
