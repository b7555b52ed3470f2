export {
  ApiKeyClient,
  type ApiKeyInfo,
  type CreateApiKeyOptions,
  type CreatedApiKey,
  type ListApiKeysOptions,
  type RevokedApiKey,
} from "./api-keys.ts";
export { openContext } from "./client-context.ts";
export { type Credentials, createTokenSource, type TokenSourceOptions } from "./credentials.ts";
export {
  type PasswordResetRequest,
  requestPasswordReset,
  type VerifyEmailRequest,
  verifyEmail,
} from "./mailed-tokens.ts";
export {
  type AccessToken,
  type ExchangeRequest,
  exchangeApiKey,
  type Login,
  type LoginRequest,
  logIn,
} from "./token-exchange.ts";
export {
  type ApiKeyUsage,
  type NamespaceUse,
  type QuotaUse,
  type Usage,
  UsageClient,
  type UsageNumbers,
  type UsageOptions,
} from "./usage.ts";
export type { UserInfo, UserRole } from "./user-info.ts";
export { type ListUsersOptions, type NewUser, type UserChanges, UserClient } from "./users.ts";
