/** What the cluster, users and API keys have used. */

export { UsagePage } from "./usage-page.tsx";
