/** The routes of users: POST and GET of /users; GET, PATCH and DELETE of /users/{user_id}. */

import type { UsersBody } from "@quoin/proto";
import * as z from "zod";
import { type DeleteUserResult, NAMESPACE_PATTERN } from "../../../state/index.ts";
import type { DescribedUser, ListedUsers, UserMethods } from "../../methods/index.ts";
import { methodAnswer } from "../answers/index.ts";
import { cursor, limit, uuid } from "../requests/index.ts";
import { jsonBody, type Route, route } from "../routing/index.ts";
import { userBody, usersBody } from "./account-bodies.ts";
import { RoleSchema, UserSchema } from "./account-schemas.ts";

const PASSWORD = "A password of 8 to 1,024 bytes";

const NamespacesSchema = z
  .array(z.string().meta({ pattern: `^\\*$|${NAMESPACE_PATTERN.source}` }))
  .meta({ uniqueItems: true, description: 'Namespaces, which need not exist; "*" = all' });

const CreateUserRequest = z.strictObject({
  email: z
    .string()
    .meta({ format: "idn-email" })
    .describe("The address for the verification mail; unique, regardless of upper and lower case"),
  password: z.string().nullish().describe(`${PASSWORD}; if absent, the user sets one with the verification`),
  role: RoleSchema,
  namespaces: NamespacesSchema,
});

const UpdateUserRequest = z.strictObject({
  email: z.null().optional().describe("It cannot be changed"),
  password: z
    .string()
    .nullish()
    .describe(`${PASSWORD}. It ends all tokens and streams of the user's logins, but not those of API keys`),
  current_password: z
    .string()
    .nullish()
    .describe("The present password: required to change your own, ignored otherwise"),
  role: RoleSchema.nullish(),
  namespaces: NamespacesSchema.nullish(),
  status: z
    .enum(["active", "disabled"])
    .nullish()
    .describe("Before the e-mail address is verified, only disabled; active then means unverified again"),
});

const ListUsersResponse: z.ZodType<UsersBody> = z.object({
  users: z.array(UserSchema),
  next_cursor: z.string().nullable().describe("Cursor of the next page; null if this is the last page"),
});

const DeletedUserResponse = z.object({
  user_id: z.string().meta({ format: "uuid" }),
  deleted: z.literal(true),
});

const userIdPath = { user_id: uuid("The id of the user") };

/** The routes of users: for administrators; users may use some of them for themselves. */
export function userRoutes(methods: UserMethods): readonly Route[] {
  return [
    createUserRoute(methods),
    listUsersRoute(methods),
    getUserRoute(methods),
    updateUserRoute(methods),
    deleteUserRoute(methods),
  ];
}

function createUserRoute(methods: UserMethods): Route {
  return route({
    method: "POST",
    path: "/users",
    operationId: "createUser",
    summary: "Create a user, who gets a mail to verify the e-mail address",
    access: "admin",
    body: jsonBody(CreateUserRequest),
    success: { status: 201, description: "The user", schema: UserSchema },
    errors: ["namespace_denied", "already_exists", "storage_full"],
    isSecret: true,
    handle: async (call, { body }) => {
      const request = { ...body, password: body.password ?? null };
      const { user } = await methodAnswer<DescribedUser>((reply) => methods.createUser(call, request, reply));
      return { json: userBody(user) };
    },
  });
}

function listUsersRoute(methods: UserMethods): Route {
  return route({
    method: "GET",
    path: "/users",
    operationId: "listUsers",
    summary: "List the users whose role and namespaces you have",
    access: "admin",
    query: { limit, cursor },
    success: { status: 200, description: "A page of users", schema: ListUsersResponse },
    isSecret: true,
    handle: async (call, { query }) => {
      const request = { pageSize: query.limit, pageToken: query.cursor };
      return { json: usersBody(await methodAnswer<ListedUsers>((reply) => methods.listUsers(call, request, reply))) };
    },
  });
}

function getUserRoute(methods: UserMethods): Route {
  return route({
    method: "GET",
    path: "/users/{user_id}",
    operationId: "getUser",
    summary: "Describe yourself or, as admin, a user whose role and namespaces you have",
    access: "admin",
    ownUser: "user_id",
    pathParameters: userIdPath,
    success: { status: 200, description: "The user", schema: UserSchema },
    errors: ["user_not_found"],
    isSecret: true,
    handle: async (call, { path }) => {
      const { user } = await methodAnswer<DescribedUser>((reply) => methods.getUser(call, path.user_id, reply));
      return { json: userBody(user) };
    },
  });
}

function updateUserRoute(methods: UserMethods): Route {
  return route({
    method: "PATCH",
    path: "/users/{user_id}",
    operationId: "updateUser",
    summary:
      "Change the role, the namespaces, the password or the status of a user, as admin, or your own password; " +
      "absent fields stay as they are",
    access: "admin",
    ownUser: "user_id",
    pathParameters: userIdPath,
    body: jsonBody(UpdateUserRequest),
    success: { status: 200, description: "The user, as changed", schema: UserSchema },
    errors: ["namespace_denied", "user_not_found", "last_owner"],
    isSecret: true,
    find: (call, { path }) => methodAnswer<null>((reply) => methods.requireUser(call, path.user_id, reply)),
    handle: async (call, { path, body }) => {
      const request = {
        password: body.password ?? null,
        currentPassword: body.current_password ?? null,
        role: body.role ?? null,
        namespaces: body.namespaces ?? null,
        status: body.status ?? null,
      };
      const { user } = await methodAnswer<DescribedUser>((reply) => {
        methods.updateUser(call, path.user_id, request, reply);
      });
      return { json: userBody(user) };
    },
  });
}

function deleteUserRoute(methods: UserMethods): Route {
  return route({
    method: "DELETE",
    path: "/users/{user_id}",
    operationId: "deleteUser",
    summary: "Delete a user with all API keys and tokens",
    access: "admin",
    pathParameters: userIdPath,
    success: { status: 200, description: "The user is deleted", schema: DeletedUserResponse },
    errors: ["user_not_found", "last_owner"],
    isSecret: true,
    handle: async (call, { path }) => {
      const { userId } = await methodAnswer<DeleteUserResult>((reply) => {
        methods.deleteUser(call, path.user_id, reply);
      });
      return { json: { user_id: userId, deleted: true } as const };
    },
  });
}
