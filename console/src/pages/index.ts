/** The pages of the console. */

export { AccountsPage } from "./accounts/index.ts";
export { BackupsPage, hasBackupStore, lookForBackupStore } from "./backups/index.ts";
export { EventLogsPage } from "./event-logs/index.ts";
export { KeysPage } from "./keys/index.ts";
export { LocksPage } from "./locks/index.ts";
export { MemoryPage } from "./memory/index.ts";
export { OverviewPage } from "./overview/index.ts";
export { SessionsPage } from "./sessions/index.ts";
export { SettingsPage } from "./settings/index.ts";
export { StreamsPage } from "./streams/index.ts";
export { UsagePage } from "./usage/index.ts";
