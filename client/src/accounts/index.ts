export {
  ApiKeyClient,
  type ApiKeyInfo,
  type CreateApiKeyOptions,
  type CreatedApiKey,
  type ListApiKeysOptions,
  type RevokedApiKey,
} from "./api-keys.ts";
export { type Credentials, createTokenSource, isTokenSource } from "./credentials.ts";
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
export {
  type ListUsersOptions,
  type NewUser,
  type UserChanges,
  UserClient,
  type UserInfo,
  type UserRole,
} from "./users.ts";
