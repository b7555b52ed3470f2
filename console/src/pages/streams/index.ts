/** Open watches and followers of event logs. */

export { StreamsPage } from "./streams-page.tsx";
