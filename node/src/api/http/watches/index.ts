export { watchRoutes } from "./watch-routes.ts";
