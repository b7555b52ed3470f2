export type {
  CreateApiKeyResult,
  DeleteUserResult,
  ResetOwnerResult,
  RevokeApiKeyResult,
  RotateSigningKeyResult,
  UserResult,
} from "./account-commands.ts";
export {
  type ReportedUse,
  type ResetOwner,
  SIGNING_KEY_BYTES,
} from "./account-commands.ts";
export { apiKeyNotFound, createApiKeyOperation, revokeApiKeyOperation } from "./api-keys.ts";
export { resetOwnerOperation } from "./owner-reset.ts";
export {
  type AccountPage,
  ALL_NAMESPACES,
  addressInAnyCase,
  includesAccess,
  includesNamespace,
  listApiKeys,
  listApiKeysOf,
  listUsers,
  managedUsers,
  mayManage,
  readApiKey,
  readApiKeyByPrefix,
  readUser,
  readUserByEmail,
  refusalOf,
  roleAccess,
  writeApiKey,
  writeUser,
} from "./principals.ts";
export {
  dropSigningKeysOperation,
  endedSigningKeys,
  keyPair,
  readPageTokenKey,
  readSigningKey,
  readSigningKeys,
  replaceSigningKeys,
  rotateSigningKeyOperation,
  type SigningKey,
  TOKEN_LIFETIME_MS_MAX,
  writePageTokenKey,
  writeSigningKey,
} from "./signing-keys.ts";
export {
  type Granularity,
  isUsageDue,
  pruneUsageOperation,
  readUsage,
  reportUseOperation,
  scanPrincipalUsage,
  sumOf,
  type UsageBucket,
  UsageLedger,
} from "./usage.ts";
export {
  createUserOperation,
  deleteUserOperation,
  readVerification,
  updateUserOperation,
  userNotFound,
  verifyUserOperation,
} from "./users.ts";
