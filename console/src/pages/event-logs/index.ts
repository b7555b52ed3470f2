/** Event logs, their events and their settings. */

export { EventLogsPage } from "./event-logs-page.tsx";
