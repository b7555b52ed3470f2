/** Sessions of clients, with what belongs to them. */

export { SessionsPage } from "./sessions-page.tsx";
