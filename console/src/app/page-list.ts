/** The pages of the console, and who sees them. */

import type { ComponentType } from "preact";
import type { PageProps } from "../page/index.ts";
import {
  AccountsPage,
  BackupsPage,
  EventLogsPage,
  hasBackupStore,
  KeysPage,
  LocksPage,
  MemoryPage,
  OverviewPage,
  StreamsPage,
  UsagePage,
} from "../pages/index.ts";
import { mayAdminister, type SessionUser } from "../session/index.ts";
import type { IconName } from "./icon.tsx";

export interface PageEntry {
  /** In the address. */
  readonly name: string;
  readonly title: string;
  readonly icon: IconName;
  readonly View: ComponentType<PageProps>;
  readonly isFor?: (user: SessionUser) => boolean;
}

const OVERVIEW: PageEntry = { name: "overview", title: "Overview", icon: "overview", View: OverviewPage };
const PAGES: readonly PageEntry[] = [
  OVERVIEW,
  { name: "keys", title: "Keys", icon: "keys", View: KeysPage },
  { name: "locks", title: "Locks", icon: "locks", View: LocksPage },
  { name: "memory", title: "Memory", icon: "memory", View: MemoryPage },
  { name: "logs", title: "Event logs", icon: "logs", View: EventLogsPage },
  { name: "watches", title: "Watches", icon: "watches", View: StreamsPage, isFor: mayAdminister },
  { name: "accounts", title: "Users and keys", icon: "accounts", View: AccountsPage },
  { name: "usage", title: "Usage", icon: "usage", View: UsagePage },
  { name: "backups", title: "Backups", icon: "backups", View: BackupsPage, isFor: () => hasBackupStore.value },
];

/** The pages that a user sees. */
export function pagesOf(user: SessionUser): readonly PageEntry[] {
  return PAGES.filter(({ isFor }) => isFor?.(user) ?? true);
}

/** The page with a name; the first one if there is none for this user. */
export function pageOf(name: string, user: SessionUser): PageEntry {
  return pagesOf(user).find((page) => page.name === name) ?? OVERVIEW;
}
