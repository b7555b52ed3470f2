export { allPages } from "./pages.ts";
