export {
  type Answer,
  type AnswerHeaders,
  bytesBody,
  changesNothing,
  jsonBody,
  type Route,
  type RouteInput,
  type RouteSuccess,
  route,
} from "./route.ts";
export { RouteServer } from "./route-server.ts";
